import { computeSample } from '../../../src/page/messages/compute-sample.ts'
import type { SummaryInput } from '../../../src/page/messages/compute-sample.ts'
import type { AgentHistory } from '../../../src/page/server/live/stats-history.ts'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { TaskGroup } from '../../../src/base/async/task-group.ts'
import { issueLinkToken } from '../../../src/page/server/link-tokens.ts'
import type { PageIdentity } from '../../../src/page/server/link-tokens.ts'
import { runPageServer } from '../../../src/page/server/run-page-server.ts'
import { openConnection } from '../../../src/standalone/node/api/open-client.ts'
import { buildPage } from '../../../tools/build-page.ts'
import { startApiServer } from '../api-server/start-secured-api.ts'
import type { SecuredApi } from '../api-server/start-secured-api.ts'

const root = join(import.meta.dirname, '../../..')
const KEY = 'a key for tests'

/** The folder of the page, built once for all files of the process. */
let built: Promise<string> | undefined

async function buildOnce(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-page-'))
  process.once('exit', () => rmSync(folder, { recursive: true }))
  await buildPage(root, folder)
  return folder
}

/** What the agent of the node says. */
export interface FakeAgent {
  /** Undefined: it explains nothing. */
  pods: readonly ({ readonly uid: string; readonly why: string } & Readonly<Record<string, unknown>>)[] | undefined
  manifests: readonly object[]
  summary: SummaryInput
  /** Undefined: it has none. */
  history: object | undefined
  images: object | undefined
  /** The paths that it was asked for. */
  readonly asked: string[]
  /** The images that it pulled. */
  readonly pulled: string[]
}

/** A page over a whole API on loopback, with an agent that says what the test wants. */
export class TestPage implements AsyncDisposable {
  readonly api: SecuredApi
  readonly agent: FakeAgent
  readonly #folder: string
  #stop: (() => Promise<void>) | undefined
  #port = 0

  private constructor(folder: string, api: SecuredApi) {
    this.#folder = folder
    this.api = api
    const none = { history: undefined, images: undefined }
    this.agent = { pods: [], manifests: [], summary: {}, ...none, asked: [], pulled: [] }
  }

  /** Without the built page where none is asked for. */
  static async start(options: { readonly isBuilt?: boolean } = {}): Promise<TestPage> {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-page-'))
    if (options.isBuilt === true) cpSync(await (built ??= buildOnce()), join(folder, 'page'), { recursive: true })
    const page = new TestPage(folder, await startApiServer(folder))
    await page.serve()
    return page
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  link(identity: PageIdentity = 'admin'): string {
    return `${this.address}/sign-in?token=${issueLinkToken(KEY, identity, Date.now())}`
  }

  async serve(): Promise<void> {
    const stopping = new AbortController()
    const connections = new TaskGroup(stopping.signal)
    const listening = Promise.withResolvers<number>()
    const { agent } = this
    const served = runPageServer(
      {
        port: this.#port,
        key: KEY,
        assets: join(this.#folder, 'page'),
        nodeName: 'node-1',
        isOneOfMany: false,
        version: '0.0.0',
        agent: {
          ask: (path) => {
            agent.asked.push(path)
            if (path === '/stats/history') return Promise.resolve(agent.history)
            if (path === '/stats/history?latest=true') return Promise.resolve(toLatest(agent.summary))
            if (path === '/why/images') return Promise.resolve(agent.images)
            if (path.startsWith('/stats')) return Promise.resolve(agent.summary)
            if (agent.pods === undefined) return Promise.resolve(undefined)
            return Promise.resolve({ pods: agent.pods, manifests: agent.manifests })
          },
          readProblems: () => Promise.resolve([]),
          pullImage: async (image) => {
            agent.pulled.push(image)
            if (image.includes('missing')) throw new Error(`Cannot pull "${image}": not found`)
          },
        },
        connect: (identity) => openConnection(Math.random, join(this.#folder, `${identity}.kubeconfig`), connections),
        clock: systemClock,
        random: Math.random,
        log: silentLogger,
        onListening: listening.resolve,
      },
      stopping.signal,
    )
    served.catch(listening.reject)
    this.#port = await listening.promise
    this.#stop = async () => {
      stopping.abort(new Error('The test ends'))
      await served.catch(() => {})
      await connections[Symbol.asyncDispose]().catch(() => {})
    }
  }

  /** Ends the page's server; its port is the same when it is served again. */
  async stop(): Promise<void> {
    await this.#stop?.()
    this.#stop = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.api.stop()
    rmSync(this.#folder, { recursive: true })
  }
}

/** CPU and memory of a summary, as the agent gives them at /stats/history. */
function toLatest(summary: SummaryInput): AgentHistory {
  const { node, pods } = computeSample(summary, Date.now())
  const column = (value: number | undefined) => [value ?? null]
  const uses = Object.entries(pods).map(([uid, [cpu, memory]]) => [uid, { cpuCores: [cpu], memoryBytes: [memory] }])
  return {
    times: [node.at],
    node: {
      cpuCores: column(node.cpu),
      memoryBytes: column(node.memory),
      memoryTotalBytes: column(node.memoryTotal),
      diskBytes: column(node.disk),
      diskTotalBytes: column(node.diskTotal),
      processes: column(node.processes),
      processesMost: column(node.processesMost),
      cpuPressure: column(node.cpuPressure),
      memoryPressure: column(node.memoryPressure),
      ioPressure: column(node.ioPressure),
    },
    pods: Object.fromEntries(uses) as AgentHistory['pods'],
  }
}
