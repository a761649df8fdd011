import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Event, Node, PodSpec } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { NODE_NAME } from '../lab/lab-agent.ts'
import type { LabAgent } from '../lab/lab-agent.ts'
import { startLab } from '../lab/start-lab.ts'
import type { Lab } from '../lab/start-lab.ts'
import { ApiReader } from './api-reader.ts'
import { testPod } from './test-pod.ts'
import { waitFor } from './wait-for.ts'

const serveApi = fileURLToPath(new URL('serve-api.ts', import.meta.url))
// Only what never comes should run into it.
const PATIENCE_MS = 90_000

export interface GuardedNodeOptions {
  readonly config: Readonly<Record<string, unknown>>
  /** Done before the agent starts. */
  readonly prepare?: (lab: Lab) => Promise<void>
}

/** A node with a configuration of its own and an API that shows the statuses of its pods. */
export class GuardedNode implements AsyncDisposable {
  readonly lab: Lab
  readonly agent: LabAgent
  readonly #api: ApiReader

  private constructor(lab: Lab, agent: LabAgent) {
    this.lab = lab
    this.agent = agent
    this.#api = new ApiReader(lab.network, `${lab.folder}/api/admin`)
  }

  static async start({ config, prepare = async () => {} }: GuardedNodeOptions): Promise<GuardedNode> {
    await using cleanup = new AsyncDisposableStack()
    const lab = cleanup.use(await startLab())
    await mkdir(`${lab.folder}/api`)
    await prepare(lab)
    await lab.startInside([process.execPath, serveApi, `${lab.folder}/api`], `${lab.folder}/api.out`)
    await waitFor('the API', async () => (await readFile(`${lab.folder}/api.out`, 'utf8')).includes('ready'))
    const agent = await lab.startAgent({ flags: [`--kubeconfig=${lab.folder}/api/agent`], config })
    await agent.healthy()
    cleanup.move()
    return new GuardedNode(lab, agent)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#api[Symbol.dispose]()
    await this.lab[Symbol.asyncDispose]()
  }

  /** What kubectl printed; fails when it fails. */
  async kubectl(args: readonly string[], stdin = ''): Promise<string> {
    const argv = ['kubectl', '--kubeconfig', `${this.lab.folder}/api/admin`, ...args]
    const { exitCode, stdout, stderr } = await this.lab.runInside(argv, { stdin })
    if (exitCode !== 0) throw new Error(`Cannot run kubectl ${args.join(' ')}: ${stderr}`)
    return stdout
  }

  /** Creates pods by their names, bound to the node: no scheduler runs here. */
  async create(pods: Readonly<Record<string, Partial<PodSpec>>>): Promise<void> {
    const items = Object.entries(pods).map(([name, spec]) => testPod(name, { nodeName: NODE_NAME, ...spec }))
    await this.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  }

  async get<T>(path: string): Promise<T> {
    return (await this.#api.get<T>(path)) ?? assert.fail(`the API has no ${path}`)
  }

  async waitFor<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T> {
    const context = async () => (await this.agent.log()).slice(-40).join('\n')
    return await waitFor(what, ask, { ms: PATIENCE_MS, context })
  }

  /** The pod of the API, once it is as wanted. */
  async podIs(name: string, what: string, isWanted: (pod: Pod) => boolean): Promise<Pod> {
    return await this.waitFor(`pod "${name}" to be ${what}`, async () => {
      const pod = await this.get<Pod>(`/api/v1/namespaces/default/pods/${name}`)
      return isWanted(pod) && pod
    })
  }

  async running(name: string): Promise<Pod> {
    return await this.podIs(name, 'running', ({ status }) => status?.phase === 'Running')
  }

  async failed(name: string): Promise<Pod> {
    return await this.podIs(name, 'failed', ({ status }) => status?.phase === 'Failed')
  }

  /** Waits until the API has a condition of the node as wanted. */
  async conditionIs(type: string, wanted: 'True' | 'False'): Promise<void> {
    await this.waitFor(`${type} to be ${wanted}`, async () => {
      const { status } = await this.get<Node>(`/api/v1/nodes/${NODE_NAME}`)
      return status?.conditions?.some((each) => each.type === type && each.status === wanted)
    })
  }

  /** The events about an object, by its name. */
  async events(name: string): Promise<readonly Event[]> {
    const { items } = await this.get<{ items: readonly Event[] }>('/api/v1/events')
    return items.filter(({ involvedObject }) => involvedObject.name === name)
  }

  async reasons(name: string): Promise<readonly string[]> {
    return (await this.events(name)).map(({ reason = '' }) => reason)
  }
}
