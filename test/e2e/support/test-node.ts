import { readdir, readFile } from 'node:fs/promises'
import { systemClock } from '../../../src/base/async/clock.ts'
import { createCriClient } from '../../../src/protocols/cri/cri-client.ts'
import type { CriClient } from '../../../src/protocols/cri/cri-client.ts'
import { fetchRuntimeStatus } from '../../../src/protocols/cri/runtime-status.ts'
import { fetchRuntimeVersion } from '../../../src/protocols/cri/runtime-version.ts'
import { toRuntimeFeatures } from '../../../src/protocols/cri/to-runtime-features.ts'
import { ContainerState } from '../../../src/protocols/cri/generated/runtime-v1.ts'
import type { Container, ContainerStatus } from '../../../src/protocols/cri/generated/runtime-v1.ts'
import { PAUSE_IMAGES } from '../../../src/protocols/docker/pause-images.ts'
import { createDockerClient } from '../../../src/protocols/docker/docker-client.ts'
import { dockerFiles } from '../../../src/system/directories/docker-files.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import type { RuntimeFeatures } from '../../../src/model/pod/runtime-features.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { NODE_NAME } from '../lab/lab-agent.ts'
import type { AgentOptions, LabAgent } from '../lab/lab-agent.ts'
import { LabDocker } from '../lab/lab-docker.ts'
import { labRuntimeKind } from '../lab/lab-runtime.ts'
import { startLab } from '../lab/start-lab.ts'
import type { Lab } from '../lab/start-lab.ts'
import { waitFor } from './wait-for.ts'

/** One line of a container's log, in its parts. */
export interface LogLine {
  /** Milliseconds since the epoch, as the workload says; else when the runtime has read the line, which a busy machine may do late. */
  readonly at: number
  readonly stream: string
  readonly tag: string
  readonly text: string
}

// In order: time, stream, F for a full line or P for a part of one, text.
const CRI_LINE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([FP]) (.*)$/
const LOG_LINES_SHOWN = 25
const never = new AbortController().signal

/** The runtime of a lab, asked past the agent. */
export function createLabRuntime({ runtime }: Lab): CriClient {
  const options = {
    runtimeEndpoint: runtime.endpoint,
    requestTimeoutMs: 20_000,
    clock: systemClock,
    log: silentLogger,
  }
  if (!(runtime instanceof LabDocker)) return createCriClient(options)
  const logLimits = { maxSizeBytes: -1, maxFiles: 1 }
  return createDockerClient({ ...options, files: dockerFiles, pauseImages: PAUSE_IMAGES, logLimits })
}

/** A lab with an agent in it, and the questions that tests ask of both. */
export class TestNode implements AsyncDisposable {
  readonly lab: Lab
  readonly runtime: CriClient
  agent: LabAgent
  readonly #options: AgentOptions

  constructor(lab: Lab, agent: LabAgent, options: AgentOptions = {}) {
    this.lab = lab
    this.agent = agent
    this.#options = options
    this.runtime = createLabRuntime(lab)
  }

  static async start(options: AgentOptions = {}, kind = labRuntimeKind()): Promise<TestNode> {
    await using cleanup = new AsyncDisposableStack()
    const lab = cleanup.use(await startLab(kind))
    const agent = await lab.startAgent(options)
    await agent.healthy()
    cleanup.move()
    return new TestNode(lab, agent, options)
  }

  get podLogs(): string {
    return `${this.lab.folder}/pod-logs`
  }

  /** Starts an agent in place of one that ended; it is not healthy yet when this returns. */
  async startAgent(): Promise<void> {
    this.agent = await this.lab.startAgent(this.#options)
  }

  async waitFor<T>(what: string, ask: () => Promise<T | undefined | false>, ms?: number): Promise<T> {
    const context = async () => (await this.agent.log()).slice(-LOG_LINES_SHOWN).join('\n')
    return await waitFor(what, ask, { ...(ms === undefined ? {} : { ms }), context })
  }

  /** The pod as /pods shows it, once it is as wanted. */
  async podIs(name: string, what: string, isWanted: (pod: Pod) => boolean, ms?: number): Promise<Pod> {
    return await this.waitFor(
      `pod "${name}" to be ${what}`,
      async () => {
        const pod = await this.agent.pod(name)
        return pod !== undefined && isWanted(pod) ? pod : undefined
      },
      ms,
    )
  }

  async ready(name: string, ms?: number): Promise<Pod> {
    return await this.podIs(name, 'ready', isReady, ms)
  }

  /** The containers that the runtime has of a pod, by its name in the manifest; of all pods without a name. */
  async containers(name?: string): Promise<readonly Container[]> {
    const labelSelector: Record<string, string> =
      name === undefined ? {} : { 'io.kubernetes.pod.name': `${name}-${NODE_NAME}` }
    return (await this.runtime.listContainers({ filter: { labelSelector } }, never)).containers
  }

  async running(name?: string): Promise<readonly Container[]> {
    return (await this.containers(name)).filter(({ state }) => state === ContainerState.CONTAINER_RUNNING)
  }

  /** What the runtime says that it can do. */
  async features(): Promise<RuntimeFeatures> {
    const status = await fetchRuntimeStatus(this.runtime, never)
    return toRuntimeFeatures(status, await fetchRuntimeVersion(this.runtime, never))
  }

  /** Status and pid, as the lab counts pids, of a container. */
  async inspect(containerId: string): Promise<{ readonly status: ContainerStatus; readonly pid: number }> {
    const { status, info } = await this.runtime.containerStatus({ containerId, verbose: true }, never)
    if (status === undefined) throw new Error(`Cannot read container "${containerId}": no status`)
    return { status, pid: (JSON.parse(info['info'] ?? '{}') as { pid?: number }).pid ?? 0 }
  }

  /** Ids and pids of all running containers. */
  async processes(): Promise<ReadonlyMap<string, number>> {
    const running = await this.running()
    return new Map(await Promise.all(running.map(async ({ id }) => [id, (await this.inspect(id)).pid] as const)))
  }

  /** Ends the process of a container with SIGKILL, without agent or runtime. */
  async killProcess(containerId: string): Promise<void> {
    const { pid } = await this.inspect(containerId)
    await this.lab.runInside(['kill', '-KILL', String(pid)])
  }

  /** What an instance of a container wrote; fails on a line that is neither in the format of CRI nor in that of Docker. */
  async logLines(pod: Pod, container = 'main', restarts = 0): Promise<readonly LogLine[]> {
    const { namespace, name, uid } = pod.metadata
    const text = await readFile(`${this.podLogs}/${namespace}_${name}_${uid}/${container}/${restarts}.log`, 'utf8')
    return text.split('\n').flatMap((line) => (line === '' ? [] : [parseLogLine(line)]))
  }

  /** How often the workloads of a pod were started, by their own logs, in all instances and UIDs whose logs are there. */
  async starts(name: string, container = 'main'): Promise<number> {
    let starts = 0
    for (const folder of await readdir(this.podLogs)) {
      if (!folder.startsWith(`default_${name}-${NODE_NAME}_`)) continue
      for (const file of await readdir(`${this.podLogs}/${folder}/${container}`).catch(() => [])) {
        // Of a container of Docker that is gone, only the link is left.
        const text = await readFile(`${this.podLogs}/${folder}/${container}/${file}`, 'utf8').catch(() => '')
        starts += text.split('\n').filter((line) => / F started |"log":"started /.test(line)).length
      }
    }
    return starts
  }

  /** What a command says in the running container of this name, or in the first one. */
  async runIn(pod: string, cmd: readonly string[], container?: string): Promise<string> {
    const found = (await this.running(pod)).find(
      ({ metadata }) => container === undefined || metadata?.name === container,
    )
    const { stdout } = await this.runtime.execSync({ containerId: found?.id ?? '', cmd, timeout: 10n }, never)
    return Buffer.from(stdout).toString().trim()
  }

  /** The lines "<name>=<value>" that a container wrote before it said that it started. */
  async report(pod: Pod, container = 'main'): Promise<Readonly<Record<string, string>>> {
    const lines = await this.waitFor(`the report of ${container}`, async () => {
      const found = (await this.logLines(pod, container)).map(({ text }) => text.trimEnd())
      return found.some((text) => text.startsWith('started')) && found
    })
    return Object.fromEntries(
      lines.flatMap((line) => {
        const [, name, value] = /^([^\s=]+)=(.*)$/.exec(line) ?? []
        return name === undefined || value === undefined ? [] : [[name, value.trim()]]
      }),
    )
  }

  /** Mounts of the lab below the directory of a pod: where, relative to it, and what part of their file system. */
  async mountsOf({ metadata: { uid } }: Pod): Promise<readonly { readonly point: string; readonly root: string }[]> {
    const directory = `${this.agent.rootDir}/pods/${uid}/`
    const { stdout } = await this.lab.runInside(['cat', '/proc/self/mountinfo'])
    return stdout.split('\n').flatMap((line) => {
      const [, , , root = '', point = ''] = line.split(' ')
      return point.startsWith(directory) ? [{ point: point.slice(directory.length), root }] : []
    })
  }

  /** Waits until neither a directory nor a mount is left of a pod. */
  async gone(pod: Pod, ms?: number): Promise<void> {
    await this.waitFor(
      `nothing to be left of pod "${pod.metadata.name}"`,
      async () => {
        const left = await readdir(`${this.agent.rootDir}/pods/${pod.metadata.uid}`).catch(() => undefined)
        return left === undefined && (await this.mountsOf(pod)).length === 0
      },
      ms,
    )
  }

  /** Waits for a line of the agent's log with all these texts in it. */
  async logged(...texts: readonly string[]): Promise<string> {
    return await this.waitFor(`a log line with ${texts.join(' and ')}`, async () => {
      return (await this.agent.log()).find((line) => texts.every((text) => line.includes(text)))
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.runtime.close()
    await this.lab[Symbol.asyncDispose]()
  }
}

export function parseLogLine(line: string): LogLine {
  if (line.startsWith('{')) return parseDockerLine(line)
  const [, time, stream, tag, text] = CRI_LINE.exec(line) ?? []
  if (time === undefined || stream === undefined || tag === undefined || text === undefined)
    throw new Error(`Cannot read a log line: ${JSON.stringify(line)}, expected the format of CRI`)
  return { at: saidAt(text) ?? Date.parse(time), stream, tag, text }
}

/** The time that a line of a script has behind its first word. */
function saidAt(text: string): number | undefined {
  const [, seconds] = /^\w+ (\d{10}\.\d{3,6})\s*$/.exec(text) ?? []
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

function parseDockerLine(line: string): LogLine {
  const { log, stream, time } = JSON.parse(line) as { log: string; stream: string; time: string }
  return {
    at: saidAt(log) ?? Date.parse(time),
    stream,
    tag: log.endsWith('\n') ? 'F' : 'P',
    text: log.replace(/\n$/, ''),
  }
}

export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
}
