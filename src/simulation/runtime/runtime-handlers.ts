import type { Clock } from '../../base/async/clock.ts'
import { CgroupDriver, ContainerState } from '../../protocols/cri/generated/runtime-v1.ts'
import type {
  Container,
  ContainerFilter,
  ContainerStats,
  ContainerStatsFilter,
  ContainerStatus,
  DeepPartial,
  PodSandbox,
  PodSandboxConfig,
  PodSandboxFilter,
  PodSandboxStatus,
  RuntimeHandlerFeatures,
} from '../../protocols/cri/generated/runtime-v1.ts'
import type { CriMethod, CriRequest, CriResponse } from '../../protocols/cri/cri-methods.ts'
import { SimulatedFault } from './simulated-fault.ts'
import type { RuntimeLogs } from './runtime-logs.ts'
import type { SimulatedEvents } from './simulated-events.ts'
import type { SimulatedImages } from './simulated-images.ts'
import type { SimulatedContainer, SimulatedRuntime, SimulatedSandbox } from './simulated-runtime.ts'

/** How a command in a container ends; `hang` runs into its timeout. */
export type ExecResult = { readonly stdout?: string; readonly stderr?: string; readonly exitCode?: number } | 'hang'

/** What a container has used. */
export interface RuntimeUsage {
  readonly cpuNanoseconds: bigint
  readonly workingSetBytes: bigint
}

/** How long what changes something takes, besides the starts of containers. */
export interface RuntimeDelays {
  readonly sandboxMs?: (config: PodSandboxConfig) => number
  readonly pullMs?: (image: string) => number
}

/** All that the calls of a simulated runtime work on. */
export interface RuntimeState {
  readonly clock: Clock
  readonly runtime: SimulatedRuntime
  readonly images: SimulatedImages
  readonly events: SimulatedEvents
  readonly onExec: (container: SimulatedContainer, cmd: readonly string[]) => ExecResult
  readonly logs: RuntimeLogs | undefined
  readonly usageOf: (container: SimulatedContainer) => RuntimeUsage | undefined
  readonly delays: RuntimeDelays
  readonly version: { readonly name: string; readonly version: string }
  readonly handlers: Readonly<Record<string, Partial<RuntimeHandlerFeatures>>>
  readonly supplementalGroupsPolicy: boolean
  runtimeReady: boolean
  networkReady: boolean
}

type Handler<M extends CriMethod> = (
  request: CriRequest<M>,
  signal: AbortSignal,
) => DeepPartial<CriResponse<M>> | Promise<DeepPartial<CriResponse<M>>>

/** The calls of both services. */
export type RuntimeHandlers = { readonly [M in CriMethod]?: Handler<M> }

/** What containerd 1.6 does not have. */
export const NEWER_METHODS: readonly CriMethod[] = [
  'runtimeConfig',
  'updatePodSandboxResources',
  'streamPodSandboxes',
  'streamContainers',
  'streamContainerStats',
  'streamImages',
]

/** Answers as containerd does; what is not here is Unimplemented. */
export function createRuntimeHandlers(state: RuntimeState): RuntimeHandlers {
  return {
    ...sandboxHandlers(state),
    ...containerHandlers(state),
    ...processHandlers(state),
    ...nodeHandlers(state),
    ...imageHandlers(state),
  }
}

function sandboxHandlers({ runtime, handlers, delays, clock }: RuntimeState): RuntimeHandlers {
  const list = (filter: PodSandboxFilter | undefined) =>
    runtime.sandboxes
      .values()
      .filter((sandbox) => matches(sandbox, filter))
      .map(toPodSandbox)
      .toArray()
  return {
    runPodSandbox: async ({ config, runtimeHandler }, signal) => {
      if (config === undefined) throw new SimulatedFault('Unknown', 'sandbox config is missing')
      if (runtimeHandler !== '' && handlers[runtimeHandler] === undefined) {
        throw new SimulatedFault(
          'Unknown',
          `failed to get sandbox runtime: no runtime for "${runtimeHandler}" is configured`,
        )
      }
      await takeTime(clock, delays.sandboxMs?.(config), signal)
      return { podSandboxId: runtime.runSandbox(config, runtimeHandler).id }
    },
    stopPodSandbox: ({ podSandboxId }) => (runtime.stopSandbox(podSandboxId), {}),
    removePodSandbox: ({ podSandboxId }) => (runtime.removeSandbox(podSandboxId), {}),
    podSandboxStatus: ({ podSandboxId }) => {
      const sandbox = runtime.sandboxes.get(podSandboxId)
      if (sandbox) return { status: toPodSandboxStatus(sandbox) }
      throw new SimulatedFault('NotFound', 'an error occurred when try to find sandbox: not found')
    },
    listPodSandbox: ({ filter }) => ({ items: list(filter) }),
    streamPodSandboxes: ({ filter }) => ({ podSandboxes: list(filter) }),
    updatePodSandboxResources: () => ({}),
  }
}

function containerHandlers({ runtime, logs, clock }: RuntimeState): RuntimeHandlers {
  const list = (filter: ContainerFilter | undefined) =>
    runtime.containers
      .values()
      .filter((container) => matches(container, filter))
      .filter(({ sandboxId }) => sandboxId.startsWith(filter?.podSandboxId ?? ''))
      .map(toContainer)
      .toArray()
  return {
    createContainer: ({ podSandboxId, config }) => {
      if (config === undefined) throw new SimulatedFault('Unknown', 'container config is missing')
      return { containerId: runtime.createContainer(podSandboxId, config).id }
    },
    startContainer: async ({ containerId }, signal) => {
      const program = runtime.programOf(runtime.get(containerId))
      await takeTime(clock, program.startsAfterMs, signal)
      runtime.startContainer(containerId, program)
      return {}
    },
    stopContainer: async ({ containerId, timeout }, signal) => {
      await runtime.stopContainer(containerId, Number(timeout), signal)
      return {}
    },
    removeContainer: ({ containerId }) => (runtime.removeContainer(containerId), {}),
    listContainers: ({ filter }) => ({ containers: list(filter) }),
    streamContainers: ({ filter }) => ({ containers: list(filter) }),
    containerStatus: ({ containerId }) => ({ status: toContainerStatus(runtime.get(containerId)) }),
    updateContainerResources: ({ containerId, linux }) => {
      const container = runtime.get(containerId)
      if (linux) container.resources = { ...container.resources, ...withoutZeros(linux) }
      return {}
    },
    reopenContainerLog: ({ containerId }) => {
      const container = runtime.get(containerId)
      if (container.state !== ContainerState.CONTAINER_RUNNING)
        throw new SimulatedFault('Unknown', 'container is not running')
      if (container.logPath !== '') logs?.open(container.logPath)
      return {}
    },
  }
}

function processHandlers({ runtime, clock, events, onExec }: RuntimeState): RuntimeHandlers {
  const find = (containerId: string) => {
    if (runtime.containers.has(containerId)) return
    throw new SimulatedFault('NotFound', `failed to find container "${containerId}" in store: not found`)
  }
  return {
    execSync: async ({ containerId, cmd, timeout }, signal) => {
      find(containerId)
      const result = onExec(runtime.getRunning(containerId, 'failed to exec in container'), cmd)
      if (result === 'hang') {
        await clock.sleep(timeout > 0n ? Number(timeout) * 1000 : Infinity, signal)
        events.emitExecExit(containerId)
        const detail = `failed to exec in container: timeout ${timeout}s exceeded: context deadline exceeded`
        throw new SimulatedFault('DeadlineExceeded', detail)
      }
      events.emitExecExit(containerId)
      const { stdout = '', stderr = '', exitCode = 0 } = result
      return { stdout: Buffer.from(stdout), stderr: Buffer.from(stderr), exitCode }
    },
    exec: ({ containerId }) => (find(containerId), { url: `http://127.0.0.1:1/exec/${containerId}` }),
    attach: ({ containerId }) => (find(containerId), { url: `http://127.0.0.1:1/attach/${containerId}` }),
    portForward: ({ podSandboxId }) => ({ url: `http://127.0.0.1:1/portforward/${podSandboxId}` }),
  }
}

function nodeHandlers(state: RuntimeState): RuntimeHandlers {
  const stats = (filter: ContainerStatsFilter | undefined) =>
    [...state.runtime.containers.values()]
      .filter((container) => matches(container, filter && { ...filter, state: undefined }))
      .filter(({ sandboxId }) => sandboxId.startsWith(filter?.podSandboxId ?? ''))
      .map((container) => toStats(state, container))
  return {
    version: () => ({
      version: '0.1.0',
      runtimeName: state.version.name,
      runtimeVersion: state.version.version,
      runtimeApiVersion: 'v1',
    }),
    status: () => ({
      runtimeHandlers: Object.entries(state.handlers).map(([name, features]) => ({ name, features })),
      ...(state.supplementalGroupsPolicy ? { features: { supplementalGroupsPolicy: true } } : {}),
      status: {
        conditions: [
          { type: 'RuntimeReady', status: state.runtimeReady },
          {
            type: 'NetworkReady',
            status: state.networkReady,
            reason: state.networkReady ? '' : 'NetworkPluginNotReady',
          },
        ],
      },
    }),
    updateRuntimeConfig: () => ({}),
    runtimeConfig: () => ({ linux: { cgroupDriver: CgroupDriver.CGROUPFS } }),
    containerStats: ({ containerId }) => {
      const stats = toStats(state, state.runtime.get(containerId))
      if (stats.cpu === undefined) throw new SimulatedFault('Unknown', 'unexpected metrics response: []')
      return { stats }
    },
    listContainerStats: ({ filter }) => ({ stats: stats(filter) }),
    streamContainerStats: ({ filter }) => ({ containerStats: stats(filter) }),
    listPodSandboxStats: () => ({ stats: [] }),
  }
}

function imageHandlers({ images, delays, clock }: RuntimeState): RuntimeHandlers {
  return {
    listImages: () => ({ images: images.list() }),
    streamImages: () => ({ images: images.list() }),
    imageStatus: ({ image }) => {
      const found = images.find(image?.image ?? '')
      return found ? { image: found } : {}
    },
    pullImage: async ({ image }, signal) => {
      const name = image?.image ?? ''
      await takeTime(clock, delays.pullMs?.(name), signal)
      return { imageRef: images.add(name).id }
    },
    removeImage: ({ image }) => (images.remove(image?.image ?? ''), {}),
    imageFsInfo: () => ({
      imageFilesystems: [
        {
          timestamp: BigInt(Math.floor(clock.now())) * 1_000_000n,
          fsId: { mountpoint: '/' },
          usedBytes: { value: images.list().reduce((sum, { size }) => sum + size, 0n) },
          inodesUsed: { value: 1n },
        },
      ],
    }),
  }
}

/** Most take none, and end at once. */
async function takeTime(clock: Clock, ms: number | undefined, signal: AbortSignal): Promise<void> {
  if (ms !== undefined && ms > 0) await clock.sleep(ms, signal)
}

interface Listed {
  readonly id: string
  readonly state: number
  readonly config: { readonly labels: Readonly<Record<string, string>> }
}

/** An id may be given by its beginning, as in containerd. */
function matches(item: Listed, filter: PodSandboxFilter | ContainerFilter | undefined): boolean {
  if (filter === undefined) return true
  return (
    item.id.startsWith(filter.id) &&
    (filter.state === undefined || filter.state.state === item.state) &&
    Object.entries(filter.labelSelector).every(([key, value]) => item.config.labels[key] === value)
  )
}

function toPodSandbox({ id, config, state, createdAt, runtimeHandler }: SimulatedSandbox): PodSandbox {
  const { metadata, labels, annotations } = config
  return { id, metadata, state, createdAt, labels, annotations, runtimeHandler }
}

function toPodSandboxStatus(sandbox: SimulatedSandbox): DeepPartial<PodSandboxStatus> {
  const options = sandbox.config.linux?.securityContext?.namespaceOptions
  return { ...toPodSandbox(sandbox), network: { ip: sandbox.ip }, linux: { namespaces: { options } } }
}

function toContainer({ id, sandboxId, config, imageRef, state, createdAt }: SimulatedContainer): Container {
  const { metadata, image, labels, annotations } = config
  return { id, podSandboxId: sandboxId, metadata, image, imageRef, state, createdAt, labels, annotations, imageId: '' }
}

function toContainerStatus(container: SimulatedContainer): DeepPartial<ContainerStatus> {
  const { metadata, image, labels, annotations, mounts } = container.config
  const { id, state, createdAt, startedAt, finishedAt, exitCode, imageRef, reason, message, logPath } = container
  return {
    id,
    metadata,
    state,
    createdAt,
    startedAt,
    finishedAt,
    exitCode,
    image,
    imageRef,
    reason,
    message,
    labels,
    annotations,
    mounts,
    logPath,
    resources: { linux: container.resources },
  }
}

/** Only a running container uses processor and memory; all of them have files. */
function toStats({ clock, usageOf }: RuntimeState, container: SimulatedContainer): DeepPartial<ContainerStats> {
  const { id, config, state } = container
  const { metadata, labels, annotations } = config
  const { cpuNanoseconds, workingSetBytes } = usageOf(container) ?? { cpuNanoseconds: 0n, workingSetBytes: 0n }
  const timestamp = BigInt(Math.floor(clock.now())) * 1_000_000n
  const idle = {
    attributes: { id, metadata, labels, annotations },
    writableLayer: { timestamp, fsId: { mountpoint: '/' }, usedBytes: { value: 0n }, inodesUsed: { value: 0n } },
  }
  if (state !== ContainerState.CONTAINER_RUNNING) return idle
  return {
    ...idle,
    cpu: { timestamp, usageCoreNanoSeconds: { value: cpuNanoseconds } },
    memory: { timestamp, workingSetBytes: { value: workingSetBytes }, usageBytes: { value: workingSetBytes } },
  }
}

function withoutZeros<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field && field !== '')) as Partial<T>
}
