import assert from 'node:assert/strict'
import { countLeftovers } from '../e2e/support/count-leftovers.ts'
import { isReady } from '../e2e/support/test-node.ts'
import type { TestNode } from '../e2e/support/test-node.ts'
import { testPod } from '../e2e/support/test-pod.ts'

// Connections come and go by themselves; a leak of one for each fault is more.
const FEW_DESCRIPTORS = 4

interface Snapshot {
  /** Of containers, by id. */
  readonly pids: ReadonlyMap<string, number>
  readonly agentPid: number
  readonly descriptors: number
}

/** Pods that nothing is wanted of but that they go on, and what they were like before a fault. */
export class SteadyPods {
  readonly #node: TestNode
  readonly #names: readonly string[]
  #before: Snapshot

  private constructor(node: TestNode, names: readonly string[], before: Snapshot) {
    this.#node = node
    this.#names = names
    this.#before = before
  }

  static async start(node: TestNode, names: readonly string[]): Promise<SteadyPods> {
    for (const name of names) await node.lab.manifests.write(name, testPod(name))
    for (const name of names) await node.ready(name)
    return new SteadyPods(node, names, await snapshot(node))
  }

  /** What other rows left open counts from here on as what was there. */
  async begin(): Promise<void> {
    this.#before = await snapshot(this.#node)
  }

  /** Every invariant of the table that can be seen from outside, for these pods. */
  async verify({ isNewAgent = false }: { readonly isNewAgent?: boolean } = {}): Promise<void> {
    const { agent } = this.#node
    await agent.healthy()
    for (const name of this.#names) {
      const pod = await this.#node.ready(name)
      assert.equal(pod.status?.phase, 'Running', name)
      assert.deepEqual(
        pod.status?.containerStatuses?.map(({ restartCount, ready }) => ({ restartCount, ready })),
        [{ restartCount: 0, ready: true }],
        `status of "${name}"`,
      )
      assert.equal(await this.#node.starts(name), 1, `starts of "${name}"`)
    }
    const now = await this.#node.processes()
    for (const [id, pid] of this.#before.pids) assert.equal(now.get(id), pid, `container ${id} is not what it was`)
    if (isNewAgent) return
    assert.equal(agent.pid, this.#before.agentPid, 'the agent was started again')
    await this.#node.waitFor('handles to be closed', async () => {
      return (await countDescriptors(this.#node)) <= this.#before.descriptors + FEW_DESCRIPTORS
    })
  }

  /** Are all ready by the agent's own report, at this moment? */
  async areReady(): Promise<boolean> {
    const pods = await this.#node.agent.pods()
    return this.#names.every((name) => pods.some((pod) => pod.metadata.name.startsWith(`${name}-`) && isReady(pod)))
  }
}

async function snapshot(node: TestNode): Promise<Snapshot> {
  return { pids: await node.processes(), agentPid: node.agent.pid, descriptors: await countDescriptors(node) }
}

async function countDescriptors({ agent }: TestNode): Promise<number> {
  const { descriptors } = await countLeftovers(agent)
  return Object.values(descriptors).reduce((sum, count) => sum + count, 0)
}
