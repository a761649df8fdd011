import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { startLab } from '../e2e/lab/start-lab.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'
import { JobNode } from './job-node.ts'

/** What people do with a standalone node. */
interface Job {
  /** Options of "deckhand up". */
  readonly options?: (node: JobNode) => readonly string[]
  /** Writes what "up" finds at its first start. */
  readonly prepare?: (node: JobNode) => Promise<void>
  /** What is done once, on the fresh node. */
  readonly begin?: (node: JobNode) => Promise<void>
  /** What has to hold then, and each time the node is back. */
  readonly holds: (node: JobNode) => Promise<void>
}

/** Does a job on a fresh node, and through everything that ends a node. */
export function runJob(name: string, { options, prepare, begin, holds }: Job): void {
  describe(name, () => {
    let lab: Lab
    let node: JobNode
    let isBroken = false
    const up = async () => await node.up(...(options?.(node) ?? []))
    const step = (title: string, work: () => Promise<void>) => {
      test(title, async (t) => {
        if (isBroken) return t.skip('a step before this one failed')
        isBroken = true
        await work()
        isBroken = false
      })
    }
    before(async () => {
      lab = await startLab('containerd')
      node = new JobNode(lab)
      await prepare?.(node)
    })
    after(async () => await lab[Symbol.asyncDispose]())

    step('from a fresh folder', async () => {
      await up()
      await begin?.(node)
      await holds(node)
    })
    step('through kill -9 of every process', async () => {
      await node.killEverything()
      await up()
      await holds(node)
    })
    step('through down and up', async () => {
      await node.deckhand('down')
      assert.match((await node.tryDeckhand('status')).stdout, /^policies {3}enforced while the node is up$/mv)
      await up()
      await holds(node)
    })
    step('through shutdown and up', async () => {
      await node.deckhand('shutdown')
      assert.match((await node.tryDeckhand('status')).stdout, /^shutdown {3}begun: /mv)
      await node.deckhand('down')
      await up()
      await holds(node)
    })
    step('leaves nothing behind', async () => {
      await node.deckhand('down', '--purge')
      assert.ok(!existsSync(node.state))
    })
  })
}
