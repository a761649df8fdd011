import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { startLab } from '../../e2e/lab/start-lab.ts'
import { TestNode } from '../../e2e/support/test-node.ts'
import { testPod } from '../../e2e/support/test-pod.ts'
import type { MadeFault } from '../fault-row.ts'
import { SteadyPods } from '../steady-pods.ts'

const INODES = 600
const LONG_ENOUGH_MS = 3000

/** A node whose root directory is a small file system of its own. */
export class SmallNode implements AsyncDisposable {
  readonly node: TestNode
  readonly steady: SteadyPods

  private constructor(node: TestNode, steady: SteadyPods) {
    this.node = node
    this.steady = steady
  }

  static async start(): Promise<SmallNode> {
    await using cleanup = new AsyncDisposableStack()
    const lab = cleanup.use(await startLab())
    const root = `${lab.folder}/kubelet`
    const script = `mkdir -p ${root} && mount -t tmpfs -o nr_inodes=${INODES} small ${root} && mount --make-rshared ${root}`
    const { exitCode, stderr } = await lab.runInside(['sh', '-c', script])
    assert.equal(exitCode, 0, stderr)
    const agent = await lab.startAgent()
    const node = cleanup.use(new TestNode(lab, agent))
    await agent.healthy()
    const steady = await SteadyPods.start(node, ['steady'])
    cleanup.move()
    return new SmallNode(node, steady)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]()
  }
}

export const diskRows: readonly MadeFault<SmallNode>[] = [
  {
    name: 'out-of-inodes',
    fault: 'the file system of the root directory has no inode left',
    injection: 'a tmpfs of few inodes, all taken by empty files; the agent is killed and started meanwhile too',
    invariants: ['once', 'kept', 'steady', 'status'],
    quick: false,
    async run({ node, steady }) {
      const { lab } = node
      const full = `${lab.folder}/kubelet/full`
      const fill = `mkdir ${full}; i=0; while : > ${full}/$i; do i=$((i+1)); done`
      await lab.runInside(['sh', '-c', fill])
      await lab.manifests.write('starved', testPod('starved'))
      await node.podIs('starved', 'waiting', ({ status }) => status?.phase === 'Pending')
      await sleep(LONG_ENOUGH_MS)
      await steady.verify()
      await node.agent.kill('SIGKILL')
      await node.startAgent()
      await steady.verify({ isNewAgent: true })
      await lab.runInside(['rm', '-r', full])
      const pod = await node.ready('starved')
      assert.equal(await node.starts('starved'), 1)
      await lab.manifests.remove('starved')
      await node.gone(pod)
      await node.waitFor('its containers to go', async () => (await node.containers('starved')).length === 0)
      await steady.verify({ isNewAgent: true })
    },
  },
]
