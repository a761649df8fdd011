import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import {
  ContainerState,
  LinuxContainerResources,
  PodSandboxConfig,
  PodSandboxState,
} from '../../protocols/cri/generated/runtime-v1.ts'
import type { ContainerConfig } from '../../protocols/cri/generated/runtime-v1.ts'
import { SimulatedFault } from './simulated-fault.ts'
import type { RuntimeLogs } from './runtime-logs.ts'
import type { SimulatedEvents } from './simulated-events.ts'
import type { SimulatedImages } from './simulated-images.ts'

/** What a container's process would do. */
export interface SimulatedProgram {
  /** How long its start takes. */
  readonly startsAfterMs?: number
  /** Ends by itself after so long. */
  readonly exitsAfterMs?: number
  readonly exitCode?: number
  /** Its reaction to SIGTERM: the exit code, or none. */
  readonly onTerm?: number | 'ignore'
  /** Its first line, written as soon as it answers to signals. */
  readonly prints?: string
  /** Cannot be executed at all. */
  readonly startError?: string
}

export interface SimulatedSandbox {
  readonly id: string
  readonly config: PodSandboxConfig
  readonly runtimeHandler: string
  readonly createdAt: bigint
  state: PodSandboxState
  ip: string
}

export interface SimulatedContainer {
  readonly id: string
  readonly sandboxId: string
  readonly config: ContainerConfig
  readonly imageRef: string
  readonly createdAt: bigint
  readonly logPath: string
  state: ContainerState
  startedAt: bigint
  finishedAt: bigint
  exitCode: number
  reason: string
  message: string
  resources: LinuxContainerResources
  readonly ended: PromiseWithResolvers<void>
}

interface Deps {
  readonly clock: Clock
  readonly events: SimulatedEvents
  readonly images: SimulatedImages
  readonly programOf: (config: ContainerConfig, sandbox: PodSandboxConfig) => SimulatedProgram
  /** Undefined: what containers print is lost. */
  readonly logs: RuntimeLogs | undefined
  /** The address of the next pod, after so many others. */
  readonly newAddress: (others: number) => string
  /** Ends what still waits when the runtime goes away. */
  readonly signal: AbortSignal
}

const SIGKILL_EXIT = 137
const NO_SANDBOX = PodSandboxConfig.fromPartial({})

/** Sandboxes and containers with the rules of containerd 1.6, without any process. */
export class SimulatedRuntime {
  readonly sandboxes = new Map<string, SimulatedSandbox>()
  readonly containers = new Map<string, SimulatedContainer>()
  readonly #deps: Deps
  #made = 0
  #lastTime = 0n

  constructor(deps: Deps) {
    this.#deps = deps
  }

  runSandbox(config: PodSandboxConfig, runtimeHandler: string): SimulatedSandbox {
    const name = sandboxName(config)
    const taken = this.sandboxes.values().find((other) => sandboxName(other.config) === name)
    if (taken) throw reserved('sandbox', name, taken.id)
    const sandbox: SimulatedSandbox = {
      id: this.#newId(),
      config,
      runtimeHandler,
      createdAt: this.#nowNs(),
      state: PodSandboxState.SANDBOX_READY,
      ip:
        config.linux?.securityContext?.namespaceOptions?.network === 2
          ? ''
          : this.#deps.newAddress(this.sandboxes.size),
    }
    this.sandboxes.set(sandbox.id, sandbox)
    this.#deps.events.emit(sandbox.id, 'started')
    return sandbox
  }

  stopSandbox(id: string): void {
    const sandbox = this.sandboxes.get(id)
    if (sandbox === undefined || sandbox.state === PodSandboxState.SANDBOX_NOTREADY) return
    for (const container of this.#containersOf(id)) this.exit(container.id, SIGKILL_EXIT)
    sandbox.state = PodSandboxState.SANDBOX_NOTREADY
    sandbox.ip = ''
    this.#deps.events.emit(id, 'stopped')
  }

  removeSandbox(id: string): void {
    this.stopSandbox(id)
    for (const container of this.#containersOf(id)) this.removeContainer(container.id)
    if (this.sandboxes.delete(id)) this.#deps.events.emit(id, 'deleted')
  }

  createContainer(sandboxId: string, config: ContainerConfig): SimulatedContainer {
    const sandbox = this.sandboxes.get(sandboxId)
    if (sandbox === undefined)
      throw new SimulatedFault('NotFound', `failed to find sandbox id "${sandboxId}": not found`)
    const name = containerName(config, sandbox.config)
    const taken = this.containers.values().find((other) => this.#nameOf(other) === name)
    if (taken) throw reserved('container', name, taken.id)
    if (sandbox.state !== PodSandboxState.SANDBOX_READY) {
      throw new SimulatedFault('NotFound', `failed to get sandbox container task: no running task found: not found`)
    }
    const container: SimulatedContainer = {
      id: this.#newId(),
      sandboxId,
      config,
      imageRef: this.#deps.images.resolve(config.image?.image ?? '').id,
      createdAt: this.#nowNs(),
      logPath: config.logPath === '' ? '' : join(sandbox.config.logDirectory, config.logPath),
      state: ContainerState.CONTAINER_CREATED,
      startedAt: 0n,
      finishedAt: 0n,
      exitCode: 0,
      reason: '',
      message: '',
      resources: config.linux?.resources ?? LinuxContainerResources.fromPartial({}),
      ended: Promise.withResolvers(),
    }
    this.containers.set(container.id, container)
    this.#deps.events.emit(container.id, 'created')
    return container
  }

  startContainer(id: string, program: SimulatedProgram): void {
    const container = this.get(id)
    if (container.state !== ContainerState.CONTAINER_CREATED) {
      throw new SimulatedFault('Unknown', `failed to set starting state for container "${id}": ${inState(container)}`)
    }
    if (this.sandboxes.get(container.sandboxId)?.state !== PodSandboxState.SANDBOX_READY) {
      throw new SimulatedFault('Unknown', `sandbox container "${container.sandboxId}" is not running`)
    }
    if (program.startError !== undefined) {
      this.#end(container, { exitCode: 128, reason: 'StartError', message: program.startError })
      throw new SimulatedFault('Unknown', program.startError)
    }
    const { logs, clock } = this.#deps
    if (logs !== undefined && container.logPath !== '') {
      logs.open(container.logPath)
      if (program.prints !== undefined) logs.append(container.logPath, 'stdout', clock.now(), program.prints)
    }
    container.state = ContainerState.CONTAINER_RUNNING
    container.startedAt = this.#nowNs()
    this.#deps.events.emit(id, 'started')
    if (program.exitsAfterMs !== undefined) void this.#exitLater(id, program.exitsAfterMs, program.exitCode ?? 0)
  }

  async stopContainer(id: string, timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    const container = this.containers.get(id)
    if (container?.state !== ContainerState.CONTAINER_RUNNING) return
    const { onTerm = 0 } = this.programOf(container)
    if (timeoutSeconds > 0 && onTerm !== 'ignore') return this.exit(id, onTerm)
    // What ends the container in the meantime ends the wait too.
    const wait = new AbortController()
    void container.ended.promise.then(() => wait.abort())
    if (timeoutSeconds > 0) {
      const stop = AbortSignal.any([wait.signal, signal])
      await this.#deps.clock.sleep(timeoutSeconds * 1000, stop).catch(() => {})
    }
    if (!signal.aborted) this.exit(id, SIGKILL_EXIT)
  }

  /** A running container is killed first, as containerd does. */
  removeContainer(id: string): void {
    this.exit(id, SIGKILL_EXIT)
    if (this.containers.delete(id)) this.#deps.events.emit(id, 'deleted')
  }

  /** The process of a running container ends. */
  exit(id: string, exitCode: number, reason = exitCode === 0 ? 'Completed' : 'Error'): void {
    const container = this.containers.get(id)
    if (container?.state === ContainerState.CONTAINER_RUNNING) this.#end(container, { exitCode, reason, message: '' })
  }

  get(id: string): SimulatedContainer {
    const container = this.containers.get(id)
    if (container) return container
    throw new SimulatedFault('NotFound', `an error occurred when try to find container "${id}": not found`)
  }

  /** The container, if a process can be run in it. */
  getRunning(id: string, what: string): SimulatedContainer {
    const container = this.get(id)
    if (container.state !== ContainerState.CONTAINER_RUNNING)
      throw new SimulatedFault('Unknown', `${what}: ${inState(container)}`)
    return container
  }

  /** What runs in a container. */
  programOf({ config, sandboxId }: SimulatedContainer): SimulatedProgram {
    return this.#deps.programOf(config, this.sandboxes.get(sandboxId)?.config ?? NO_SANDBOX)
  }

  #end(container: SimulatedContainer, how: Pick<SimulatedContainer, 'exitCode' | 'reason' | 'message'>): void {
    const ran = container.state === ContainerState.CONTAINER_RUNNING
    Object.assign(container, how, { state: ContainerState.CONTAINER_EXITED, finishedAt: this.#nowNs() })
    container.ended.resolve()
    if (!ran) return
    if (how.reason === 'OOMKilled') this.#deps.events.emit(container.id, 'oom')
    this.#deps.events.emit(container.id, 'stopped', how.exitCode)
  }

  async #exitLater(id: string, ms: number, exitCode: number): Promise<void> {
    try {
      await this.#deps.clock.sleep(ms, this.#deps.signal)
      this.exit(id, exitCode)
    } catch {
      // The runtime has ended.
    }
  }

  #containersOf(sandboxId: string): SimulatedContainer[] {
    return [...this.containers.values()].filter((container) => container.sandboxId === sandboxId)
  }

  #nameOf(container: SimulatedContainer): string {
    return containerName(container.config, this.sandboxes.get(container.sandboxId)?.config)
  }

  #newId(): string {
    this.#made += 1
    return createHash('sha256').update(String(this.#made)).digest('hex')
  }

  // Never the same twice: the times decide which of two things is the newest.
  #nowNs(): bigint {
    const now = BigInt(Math.floor(this.#deps.clock.now())) * 1_000_000n
    this.#lastTime = now > this.#lastTime ? now : this.#lastTime + 1n
    return this.#lastTime
  }
}

function inState({ state }: SimulatedContainer): string {
  const [name] = Object.entries(ContainerState).find(([, value]) => value === state) ?? ['']
  return `container is in ${name} state`
}

function sandboxName({ metadata }: PodSandboxConfig): string {
  return [metadata?.name, metadata?.namespace, metadata?.uid, metadata?.attempt].join('_')
}

function containerName({ metadata }: ContainerConfig, sandbox: PodSandboxConfig | undefined): string {
  const pod = sandbox?.metadata
  return [metadata?.name, pod?.name, pod?.namespace, pod?.uid, metadata?.attempt].join('_')
}

function reserved(kind: string, name: string, by: string): SimulatedFault {
  const detail = `failed to reserve ${kind} name "${name}": name "${name}" is reserved for "${by}"`
  return new SimulatedFault('Unknown', detail)
}
