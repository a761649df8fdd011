import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { startProcess } from '../../../src/system/processes/start-process.ts'
import type { ProcessExit, StartedProcess } from '../../../src/system/processes/start-process.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { defaultPorts } from './agent-config.ts'
import type { AgentPorts } from './agent-config.ts'
import { childPid } from './lab-namespaces.ts'
import type { LabNetwork } from './lab-network.ts'

const ownKubelet = fileURLToPath(new URL('../../../bin/kubelet', import.meta.url))

export interface AgentOptions {
  /** Path of the kubelet; our own by default. */
  readonly binary?: string
  /** A program that starts it, with its arguments; it must end in exec, as setpriv does. */
  readonly through?: readonly string[]
  /** Added to --config, --root-dir, --cert-dir and --hostname-override. */
  readonly flags?: readonly string[]
  /** Fields that replace or join those of createAgentConfig(); undefined removes one. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/** How an agent is started in one lab. */
export interface AgentSite {
  readonly folder: string
  readonly enter: readonly string[]
  readonly network: LabNetwork
  createConfig(ports: AgentPorts): Readonly<Record<string, unknown>>
}

/** A kubelet that runs in a lab. */
export class LabAgent {
  /** The pid as we see it: /proc/<pid> is the agent's. */
  readonly pid: number
  readonly logFile: string
  readonly rootDir: string
  readonly config: Readonly<Record<string, unknown>>
  /** When it was started, in ms since the epoch. */
  readonly startedAt: number
  readonly #process: StartedProcess
  readonly #network: LabNetwork

  constructor(
    fields: Pick<LabAgent, 'pid' | 'logFile' | 'rootDir' | 'config' | 'startedAt'>,
    process: StartedProcess,
    network: LabNetwork,
  ) {
    this.pid = fields.pid
    this.logFile = fields.logFile
    this.rootDir = fields.rootDir
    this.config = fields.config
    this.startedAt = fields.startedAt
    this.#process = process
    this.#network = network
  }

  get exited(): Promise<ProcessExit> {
    return this.#process.exited
  }

  /** Sends a signal and does not wait. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal)
  }

  /** Ends the agent by a signal and waits until it is gone. */
  async kill(signal: NodeJS.Signals = 'SIGTERM'): Promise<ProcessExit> {
    try {
      this.signal(signal)
    } catch {
      // Gone already: exited says how.
    }
    return await this.exited
  }

  async log(): Promise<readonly string[]> {
    return (await readFile(this.logFile, 'utf8')).trimEnd().split('\n')
  }

  /** GET http://127.0.0.1:<readOnlyPort>/pods */
  async pods(): Promise<readonly Pod[]> {
    const { status, body } = await this.#network.get(`http://127.0.0.1:${String(this.config['readOnlyPort'])}/pods`)
    if (status !== 200) throw new Error(`Cannot read /pods: status ${status}, expected 200: ${body}`)
    return (JSON.parse(body) as { items?: Pod[] | null }).items ?? []
  }

  /** Undefined while no pod with this name is known; a static pod's name is "<name>-<node name>". */
  async pod(name: string): Promise<Pod | undefined> {
    return (await this.pods()).find(
      ({ metadata }) => metadata.name === name || metadata.name === `${name}-${NODE_NAME}`,
    )
  }

  /** Waits until /healthz answers 200; fails with the end of the log when the agent ends or the deadline passes. */
  async healthy(deadlineMs = 30_000): Promise<void> {
    const url = `http://127.0.0.1:${String(this.config['healthzPort'])}/healthz`
    let ended: ProcessExit | undefined
    void this.exited.then((exit) => (ended = exit))
    const end = performance.now() + deadlineMs
    for (;;) {
      const status = await this.#network.get(url).then(
        (response) => response.status,
        () => 0,
      )
      if (status === 200) return
      if (ended !== undefined || performance.now() > end) {
        const state =
          ended === undefined ? `no 200 from /healthz after ${deadlineMs} ms` : `it ended: ${JSON.stringify(ended)}`
        throw new Error(`Cannot wait for the agent: ${state}\n${(await this.log()).slice(-30).join('\n')}`)
      }
      await sleep(20)
    }
  }
}

/** The agent's --hostname-override. */
export const NODE_NAME = 'lab'

/** Starts a kubelet inside the lab; it is not healthy yet when this returns. */
export async function startAgent(site: AgentSite, options: AgentOptions = {}): Promise<LabAgent> {
  const config = { ...site.createConfig(defaultPorts), ...options.config }
  const configFile = `${site.folder}/kubelet.yaml`
  const rootDir = `${site.folder}/kubelet`
  const logFile = `${site.folder}/agent.log`
  await mkdir(rootDir, { recursive: true })
  // JSON is YAML.
  await writeFile(configFile, JSON.stringify(config, undefined, 2))
  const argv = [
    ...site.enter,
    ...(options.through ?? []),
    options.binary ?? ownKubelet,
    `--config=${configFile}`,
    `--root-dir=${rootDir}`,
    `--cert-dir=${site.folder}/pki`,
    `--hostname-override=${NODE_NAME}`,
    ...(options.flags ?? []),
  ]
  const startedAt = performance.timeOrigin + performance.now()
  const environment =
    options.environment === undefined ? {} : { environment: { ...process.env, ...options.environment } }
  const started = await startProcess({ argv, logFile, ...environment })
  const pid = await waitForChild(started)
  return new LabAgent({ pid, logFile, rootDir, config, startedAt }, started, site.network)
}

async function waitForChild(started: StartedProcess): Promise<number> {
  let ended = false
  void started.exited.then(() => (ended = true))
  for (;;) {
    const pid = await childPid(started.pid)
    if (pid !== undefined) return pid
    if (ended) return started.pid
    await sleep(1)
  }
}
