import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createPinnedPod, createTestPolicy } from '../../../test/builders/create-cpu-policy.ts'
import { MACHINES } from '../../../test/builders/cpu-machines.ts'
import { createPod } from '../../../test/builders/create-pod.ts'
import { FakeCpuNode, runFor } from '../../../test/fakes/fake-cpu-node.ts'
import { SHARED_STATE, SharedCpus } from './shared-cpus.ts'

const ALL = new Set([0, 1, 2, 3, 4, 5, 6, 7])

describe('SharedCpus', () => {
  test('has no hints', async () => {
    const cpus = new SharedCpus({ ...new FakeCpuNode().parts, giveBack: undefined })
    assert.deepEqual(
      [cpus.allocate(), cpus.cpusOf(), await cpus.prepare(), cpus.hasExclusive()],
      [undefined, '', undefined, false],
    )
    await cpus.run(new AbortController().signal)
  })

  test('gives containers back what another policy took from them, and records that when all have it', async () => {
    const node = new FakeCpuNode()
    const pinning = await node.start(createTestPolicy(MACHINES['one socket'], '0'))
    await node.add(pinning, createPod({ metadata: { uid: 's' } }))
    await node.add(pinning, createPinnedPod('a', 'main:2'))
    await runFor(pinning, node)
    const recorded = node.file
    node.stubborn.add('a/main')
    const cpus = new SharedCpus({ ...node.parts, giveBack: ALL })
    const ended = cpus.run(new AbortController().signal)
    await setImmediate()
    assert.equal(node.shown, 's/main=0,2-4,6-7 a/main=1,5', 'quotas are in specs that are not known yet')
    cpus.sourcesReady()
    for (let turn = 0; turn < 5; turn += 1) await setImmediate()
    assert.deepEqual([node.shown, node.file], ['s/main=0-7 a/main=1,5', recorded])
    node.stubborn.clear()
    await node.clock.advance(10_000)
    await ended
    assert.deepEqual([node.shown, node.file], ['s/main=0-7 a/main=0-7', SHARED_STATE])
    assert.equal(node.clock.sleeping, 0)
  })
})
