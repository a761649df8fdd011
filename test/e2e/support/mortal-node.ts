import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { NODE_NAME } from '../lab/lab-agent.ts'
import type { AgentOptions } from '../lab/lab-agent.ts'
import type { KillPlan, NotedCall } from './kill-plan.ts'
import { withKillSwitch } from './built-agents.ts'
import { TestNode } from './test-node.ts'
import { waitFor } from './wait-for.ts'

const PATIENCE_MS = 200_000
const POLL_MS = 100
// An agent starts as many pods at once as there are CPUs: with few, a kill hits few.
const CPUS = '0-15'

/** A node whose agent dies as planned and is started again each time. */
export class MortalNode implements AsyncDisposable {
  readonly node: TestNode
  /** How agents ended that were not killed. */
  readonly crashes: string[] = []
  readonly #folder: string
  #pods: readonly Pod[] = []
  #stopping = false
  #starts = 1
  readonly #loops: Promise<void>[]

  private constructor(node: TestNode, folder: string) {
    this.node = node
    this.#folder = folder
    this.#loops = [this.#keepAlive(), this.#watchPods()]
  }

  /** With a kill switch of this folder. */
  static async start(killSwitch: Parameters<typeof withKillSwitch>[0], options: AgentOptions): Promise<MortalNode> {
    const folder = await mkdtemp(join(tmpdir(), 'deckhand-kills-'))
    await writeFile(`${folder}/journal`, '')
    await writeFile(`${folder}/plan.json`, '{}')
    const environment = { ...options.environment, KILL_SWITCH: folder }
    const node = await TestNode.start(withKillSwitch(killSwitch, { ...options, environment }))
    await showCpus(node, `${folder}/cpus`)
    return new MortalNode(node, folder)
  }

  /** How often an agent was started. */
  get starts(): number {
    return this.#starts
  }

  /** From the next agent on; this one is killed. */
  async plan(kills: KillPlan): Promise<void> {
    await writeFile(`${this.#folder}/plan.json`, JSON.stringify(kills))
    const { agent } = this.node
    agent.signal('SIGKILL')
    await waitFor('the next agent', async () => this.node.agent !== agent)
  }

  /** All steps that agents took for a pod, by its name in the plan. */
  async calls(name: string): Promise<readonly NotedCall[]> {
    const lines = (await readFile(`${this.#folder}/journal`, 'utf8')).trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as NotedCall).filter(({ pod }) => pod === name)
  }

  /** The pod as an agent shows it, once it is as wanted. */
  async podIs(name: string, what: string, isWanted: (pod: Pod) => boolean): Promise<Pod> {
    const find = () => this.#pods.find(({ metadata }) => metadata.name === `${name}-${NODE_NAME}`)
    const context = async () =>
      [find()?.status, ...(await this.calls(find()?.metadata.name ?? ''))]
        .map((part) => JSON.stringify(part))
        .join('\n')
    return await waitFor(
      `"${name}" to be ${what}`,
      async () => {
        const pod = find()
        return pod !== undefined && isWanted(pod) && pod
      },
      { ms: PATIENCE_MS, context },
    )
  }

  async #keepAlive(): Promise<void> {
    for (;;) {
      const { exitCode, signal } = await this.node.agent.exited
      if (this.#stopping) return
      if (exitCode !== 137 && signal !== 'SIGKILL') this.crashes.push(`${exitCode} ${signal}`)
      await this.node.startAgent()
      this.#starts += 1
    }
  }

  async #watchPods(): Promise<void> {
    while (!this.#stopping) {
      this.#pods = await this.node.agent.pods().catch(() => this.#pods)
      await sleep(POLL_MS)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true
    await this.node.agent.kill('SIGKILL')
    await Promise.all(this.#loops)
    await this.node[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true })
  }
}

/** The next agents see a large machine. */
async function showCpus({ lab }: TestNode, file: string): Promise<void> {
  await writeFile(file, `${CPUS}\n`)
  const { exitCode, stderr } = await lab.runInside(['mount', '--bind', file, '/sys/devices/system/cpu/online'])
  if (exitCode !== 0) throw new Error(`Cannot show more CPUs: ${stderr}`)
}
