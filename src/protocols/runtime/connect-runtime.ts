import { basename } from 'node:path'
import { explainRemovedFlag } from '../../model/config/flags/removed-flags.ts'
import { createCriClient } from '../cri/cri-client.ts'
import type { CriClient, CriClientOptions } from '../cri/cri-client.ts'
import { parseEndpoint } from '../cri/parse-endpoint.ts'
import { askSpeaker } from '../docker/speaks-docker.ts'
import type { DockerClientOptions } from '../docker/docker-client.ts'

/** What a client of any runtime is made with. */
export interface RuntimeClientOptions
  extends
    CriClientOptions,
    Pick<DockerClientOptions, 'pauseImages' | 'sandboxLogins' | 'logLimits' | 'pullProgressMs' | 'network'> {
  /** Pods on Docker's bridge may reach themselves through their services. */
  readonly hairpin?: boolean
  /** Flags that were given and that mean something for Docker alone. */
  readonly dockerFlags?: readonly string[]
}

const RETRY_MS = 200
const DOCKER_SOCKET = 'docker.sock'

/** The client for what answers at the endpoint: a CRI runtime, or Docker. No caller knows which. */
export async function connectRuntime(options: RuntimeClientOptions, signal: AbortSignal): Promise<CriClient> {
  if (!(await isDocker(options, signal))) {
    refuseDockerFlags(options)
    return createCriClient(options)
  }
  const { runtimeEndpoint, imageEndpoint = runtimeEndpoint } = options
  if (imageEndpoint !== runtimeEndpoint)
    throw new Error(
      `Cannot use image service "${imageEndpoint}" with Docker at "${runtimeEndpoint}": Docker has its images itself, leave it out`,
    )
  // Loaded only where there is Docker.
  const [{ createDockerClient }, { dockerFiles }, { BridgePorts }] = await Promise.all([
    import('../docker/docker-client.ts'),
    import('../../system/directories/docker-files.ts'),
    import('../../system/network/bridge-ports.ts'),
  ])
  const ports = options.hairpin === true ? { ports: new BridgePorts() } : {}
  return createDockerClient({ ...options, ...ports, files: dockerFiles })
}

/** Left without effect, they would leave pods without what the operator set. */
function refuseDockerFlags({ dockerFlags = [], runtimeEndpoint }: RuntimeClientOptions): void {
  if (dockerFlags.length === 0) return
  const problems = dockerFlags.map((name) => explainRemovedFlag(name) ?? `--${name} is for Docker alone`)
  throw new Error(`${problems.join('; ')}. These flags are for Docker, which does not answer at "${runtimeEndpoint}"`)
}

/** Asks the socket. One that does not answer yet is waited for as long as one call may take; then its name decides. */
async function isDocker(
  { runtimeEndpoint, requestTimeoutMs, clock, log }: RuntimeClientOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { socketPath } = parseEndpoint(runtimeEndpoint)
  const giveUpAt = clock.monotonic() + requestTimeoutMs
  for (let tries = 0; ; tries += 1) {
    const speaker = await askSpeaker(socketPath, signal)
    if (speaker === 'docker' || speaker === 'other') return speaker === 'docker'
    if (clock.monotonic() >= giveUpAt) return basename(socketPath) === DOCKER_SOCKET
    if (tries === 0) {
      const atMostSeconds = requestTimeoutMs / 1000
      log.warn('runtime does not answer yet, waiting', { endpoint: runtimeEndpoint, atMostSeconds })
    }
    await clock.sleep(RETRY_MS, signal)
  }
}
