import { CriCallError } from '../cri/cri-call-error.ts'
import type { CriClient, CriClientOptions } from '../cri/cri-client.ts'
import { parseEndpoint } from '../cri/parse-endpoint.ts'
import type { DockerFiles } from '../../system/directories/docker-files.ts'
import { DockerApi } from './api/docker-api.ts'
import { bindDockerCalls, notImplemented, toDockerCallError } from './bind-docker-calls.ts'
import {
  containerStatus,
  createContainer,
  listContainers,
  removeContainer,
  reopenContainerLog,
  startContainer,
  stopContainer,
  updateContainerResources,
} from './calls/container-calls.ts'
import { containerEvents } from './calls/container-events.ts'
import { Downloads } from './calls/downloads.ts'
import { execSync } from './calls/exec-calls.ts'
import { imageFsInfo, imageStatus, listImages, pullImage, removeImage } from './calls/image-calls.ts'
import { runtimeConfig, status, updateRuntimeConfig, version } from './calls/runtime-calls.ts'
import {
  listPodSandbox,
  podSandboxStatus,
  removePodSandbox,
  runPodSandbox,
  stopPodSandbox,
} from './calls/sandbox-calls.ts'
import { containerStats, LayerSizes, listContainerStats } from './calls/stats-calls.ts'
import type { LogLimits } from './create/compute-container.ts'
import { attach, exec, portForward } from './calls/stream-calls.ts'
import { DockerConnection } from './docker-connection.ts'
import type { DockerDeps, SandboxLogins } from './docker-deps.ts'
import { DaemonInfo } from './daemon-info.ts'
import { Hairpins } from './network/hairpins.ts'
import type { HairpinDeps } from './network/hairpins.ts'
import { PodNetworks } from './network/pod-networks.ts'
import type { NetworkSettings } from './network/pod-networks.ts'
import { DockerStreamServer } from './streaming/docker-stream-server.ts'

/** What a client of Docker needs beside what one of a CRI runtime needs. */
export interface DockerClientOptions extends CriClientOptions {
  readonly files: DockerFiles
  /** Images of sandboxes: the first that Docker has, else the last. */
  readonly pauseImages: readonly string[]
  /** Logins to the registry of such an image, to be tried in turn; none: it is pulled without. */
  readonly sandboxLogins?: SandboxLogins
  /** By which Docker rotates the logs of containers. */
  readonly logLimits: LogLimits
  /** A pull without progress for so long is given up; a minute unless set otherwise. */
  readonly pullProgressMs?: number
  /** For pods whose network comes from CNI plugins; without it, none has. */
  readonly network?: NetworkSettings
  /** The bridges of the machine, for pods on Docker's own; without them its ports stay as they are. */
  readonly ports?: HairpinDeps['ports']
}

const PULL_PROGRESS_MS = 60_000

/** Docker Engine behind the calls of CRI: the agent above does not know the difference. */
export function createDockerClient(options: DockerClientOptions): CriClient {
  const { runtimeEndpoint, clock, log, files, requestTimeoutMs } = options
  const api: DockerApi = new DockerApi(parseEndpoint(runtimeEndpoint).socketPath, (away) => {
    if (away !== undefined) daemon.forget()
    connection.note(away === undefined)
  })
  const daemon = new DaemonInfo(api, clock)
  const connection = new DockerConnection(api, clock)
  const downloads = new Downloads(clock)
  const { pauseImages, logLimits, pullProgressMs = PULL_PROGRESS_MS, network, ports } = options
  const sandboxLogins = options.sandboxLogins ?? (async () => [])
  const networks = network && new PodNetworks({ settings: network, owner: runtimeEndpoint, clock, log })
  const end = new AbortController()
  const deps: DockerDeps = {
    api,
    daemon,
    files,
    downloads,
    pauseImages,
    sandboxLogins,
    logLimits,
    pullProgressMs,
    networks,
    hairpins: ports && new Hairpins({ ports, files, log }),
    end: end.signal,
    clock,
    log,
  }
  const streaming = new DockerStreamServer({ clock, log })
  const close = () => {
    end.abort(new Error('The client of Docker was closed'))
    connection.close()
    streaming[Symbol.dispose]()
    api[Symbol.dispose]()
  }
  return {
    ...bindDockerCalls(toCalls(deps, streaming), { requestTimeoutMs, clock }),
    ...streams(deps),
    connection,
    containerdEvents: () => refuseStream('containerdEvents'),
    containerdDownloads: async () => downloads.list(),
    containerdHas: () => Promise.reject(notImplemented('containerdHas')),
    containerdDeleteTask: () => Promise.reject(notImplemented('containerdDeleteTask')),
    close,
    [Symbol.dispose]: close,
  }
}

function toCalls(deps: DockerDeps, streaming: DockerStreamServer): Parameters<typeof bindDockerCalls>[0] {
  const sizes = new LayerSizes()
  return {
    version: (request, signal) => version(deps, request, signal),
    status: (request, signal) => status(deps, request, signal),
    runtimeConfig: (request, signal) => runtimeConfig(deps, request, signal),
    updateRuntimeConfig: (request) => updateRuntimeConfig(deps, request),
    runPodSandbox: (request, signal) => runPodSandbox(deps, request, signal),
    stopPodSandbox: (request, signal) => stopPodSandbox(deps, request, signal),
    removePodSandbox: (request, signal) => removePodSandbox(deps, request, signal),
    podSandboxStatus: (request, signal) => podSandboxStatus(deps, request, signal),
    listPodSandbox: (request, signal) => listPodSandbox(deps, request, signal),
    createContainer: (request, signal) => createContainer(deps, request, signal),
    startContainer: (request, signal) => startContainer(deps, request, signal),
    stopContainer: (request, signal) => stopContainer(deps, request, signal),
    removeContainer: (request, signal) => removeContainer(deps, request, signal),
    listContainers: (request, signal) => listContainers(deps, request, signal),
    containerStatus: (request, signal) => containerStatus(deps, request, signal),
    updateContainerResources: (request, signal) => updateContainerResources(deps, request, signal),
    reopenContainerLog: (request, signal) => reopenContainerLog(deps, request, signal),
    execSync: (request, signal) => execSync(deps, request, signal),
    exec: (request, signal) => exec(deps, streaming, request, signal),
    attach: (request, signal) => attach(deps, streaming, request, signal),
    portForward: (request, signal) => portForward(deps, streaming, request, signal),
    containerStats: (request, signal) => containerStats(deps, sizes, request, signal),
    listContainerStats: (request, signal) => listContainerStats(deps, sizes, request, signal),
    listImages: (request, signal) => listImages(deps, request, signal),
    imageStatus: (request, signal) => imageStatus(deps, request, signal),
    pullImage: (request, signal) => pullImage(deps, request, signal),
    removeImage: (request, signal) => removeImage(deps, request, signal),
    imageFsInfo: (request, signal) => imageFsInfo(deps, request, signal),
  }
}

/** The stream of events: the only call with a stream that the agent uses. */
function streams(deps: DockerDeps) {
  return {
    async *getContainerEvents(_request: object, signal: AbortSignal) {
      try {
        yield* containerEvents(deps, signal)
      } catch (error) {
        throw signal.aborted ? signal.reason : toDockerCallError('getContainerEvents', error)
      }
      throw signal.aborted
        ? signal.reason
        : new CriCallError('getContainerEvents', 'Unavailable', 'Docker ended the stream')
    },
    streamPodSandboxes: () => refuseStream('streamPodSandboxes'),
    streamContainers: () => refuseStream('streamContainers'),
    streamContainerStats: () => refuseStream('streamContainerStats'),
    streamPodSandboxStats: () => refuseStream('streamPodSandboxStats'),
    streamPodSandboxMetrics: () => refuseStream('streamPodSandboxMetrics'),
    streamImages: () => refuseStream('streamImages'),
  }
}

// oxlint-disable-next-line require-yield
async function* refuseStream(method: string): AsyncGenerator<never, void> {
  throw notImplemented(method)
}
