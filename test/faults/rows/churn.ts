import assert from 'node:assert/strict'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { countLeftovers } from '../../e2e/support/count-leftovers.ts'
import { listShims } from '../../e2e/support/list-shims.ts'
import { TestNode } from '../../e2e/support/test-node.ts'
import { scripts, testContainer, testPod } from '../../e2e/support/test-pod.ts'
import type { FaultOptions, MadeFault } from '../fault-row.ts'
import { SteadyPods } from '../steady-pods.ts'

const MOST_PODS = 8
const REPORT_MS = 60_000
const PATIENCE_MS = 180_000
const never = new AbortController().signal
const collector = fileURLToPath(new URL('../../e2e/support/collect-shims.ts', import.meta.url))

/** A node with two pods that nothing happens to. */
export class ChurnedNode implements AsyncDisposable {
  readonly node: TestNode
  readonly steady: SteadyPods

  private constructor(node: TestNode, steady: SteadyPods) {
    this.node = node
    this.steady = steady
  }

  static async start(): Promise<ChurnedNode> {
    await using cleanup = new AsyncDisposableStack()
    const node = cleanup.use(await TestNode.start())
    const steady = await SteadyPods.start(node, ['steady-one', 'steady-two'])
    cleanup.move()
    return new ChurnedNode(node, steady)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]()
  }
}

const manifests: readonly ((name: string) => object)[] = [
  (name) => testPod(name),
  (name) => testPod(name, { initContainers: [testContainer('prepare', scripts.exits(0, 0.1))] }),
  (name) => testPod(name, { containers: [testContainer('main', scripts.exits(3, 0.1))] }),
  (name) => testPod(name, { restartPolicy: 'Never', containers: [testContainer('main', scripts.exits(0, 0.2))] }),
]

/** What is done to the node, again and again, in any order. */
class Churn {
  readonly #node: TestNode
  readonly #pods: string[] = []
  made = 0
  agentKills = 0
  runtimeKills = 0

  constructor(node: TestNode) {
    this.#node = node
  }

  async step(): Promise<void> {
    const roll = Math.random()
    if (roll < 0.05) await this.#killRuntime()
    else if (roll < 0.25) await this.#killAgent()
    else if (this.#pods.length >= MOST_PODS || (roll < 0.55 && this.#pods.length > 0)) await this.#removePod()
    else await this.#addPod()
    await sleep(Math.random() * 600)
  }

  /** All pods that came have gone, and an agent runs. */
  async end(): Promise<void> {
    while (this.#pods.length > 0) await this.#removePod()
    await this.#node.agent.healthy()
  }

  async #addPod(): Promise<void> {
    const name = `churn-${this.made}`
    const manifest = manifests[this.made % manifests.length] ?? testPod
    this.made += 1
    this.#pods.push(name)
    await this.#node.lab.manifests.write(name, manifest(name))
  }

  async #removePod(): Promise<void> {
    const [name = ''] = this.#pods.splice(Math.floor(Math.random() * this.#pods.length), 1)
    await this.#node.lab.manifests.remove(name)
  }

  async #killAgent(): Promise<void> {
    this.agentKills += 1
    await this.#node.agent.kill('SIGKILL')
    await this.#node.startAgent()
  }

  async #killRuntime(): Promise<void> {
    this.runtimeKills += 1
    await this.#node.lab.containerd.restart()
  }
}

/** Nothing is left of all that came and went: neither in the runtime, nor on the disk, nor as a process. */
async function checkNothingLeft({ node }: ChurnedNode, { say }: FaultOptions): Promise<void> {
  const left = async () => {
    const { items } = await node.runtime.listPodSandbox({}, never)
    const { pods, mounts } = await countLeftovers(node.agent)
    const names = [...(await node.containers()), ...items].map(({ metadata, labels }) => {
      return `${metadata?.name} of ${labels['io.kubernetes.pod.name']}`
    })
    return {
      runtime: names.filter((name) => !name.includes('steady-')),
      // A folder of a pod is named by its UID.
      folders: pods.filter((path) => !path.includes('/')).length - 2,
      mounts: mounts.length,
    }
  }
  await node.waitFor(
    'nothing to be left',
    async () => {
      const { runtime, folders } = await left()
      assert.deepEqual({ runtime, folders }, { runtime: [], folders: 0 })
      return true
    },
    PATIENCE_MS,
  )
  // What containerd has forgotten the agent ends after some ten minutes; here both of its rounds are made at once.
  const forgotten = (await listShims(node.lab)).length - 2
  say(`${forgotten} shims that containerd has forgotten`)
  await node.lab.runInside([process.execPath, collector, node.lab.containerd.socket])
  await node.waitFor('forgotten shims to end', async () => (await listShims(node.lab)).length === 2)
}

export const churnRows: readonly MadeFault<ChurnedNode>[] = [
  {
    name: 'churn',
    fault: 'pods come and go while agent and runtime are killed again and again',
    injection:
      'SIGKILL to the agent and to containerd at random times, for some minutes (--minutes); starts are counted of two pods that stay',
    invariants: ['regular', 'kept', 'steady', 'status', 'clean'],
    quick: false,
    async run(ground, options) {
      const churn = new Churn(ground.node)
      const endsAt = performance.now() + options.churnMinutes * 60_000
      let reportAt = performance.now() + REPORT_MS
      const report = () =>
        options.say(
          `${churn.made} pods, agent killed ${churn.agentKills} times, containerd ${churn.runtimeKills} times`,
        )
      while (performance.now() < endsAt) {
        await churn.step()
        if (performance.now() < reportAt) continue
        reportAt += REPORT_MS
        report()
        await ground.steady.verify({ isNewAgent: true })
      }
      report()
      await churn.end()
      await checkNothingLeft(ground, options)
      await ground.steady.verify({ isNewAgent: true })
    },
  },
]
