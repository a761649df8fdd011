import { CriCallError } from '../../cri/cri-call-error.ts'
import type { CriRequest, CriResponse } from '../../cri/cri-methods.ts'
import { CgroupDriver, RuntimeHandler } from '../../cri/generated/runtime-v1.ts'
import { hasApi } from '../api/api-version.ts'
import type { DockerInfo, DockerVersion } from '../api/docker-types.ts'
import type { DockerDeps } from '../docker-deps.ts'

const CRI_VERSION = '0.1.0'
const RECURSIVE_READ_ONLY_SINCE = '1.44'
// Docker's own name for the runtime that it uses without being asked for one.
const DEFAULT_HANDLER = 'docker'

export async function version(
  { api, daemon }: DockerDeps,
  _request: CriRequest<'version'>,
  signal: AbortSignal,
): Promise<CriResponse<'version'>> {
  refuseRemapped(await daemon.info(signal))
  const { Version: runtimeVersion } = await api.json<DockerVersion>({ method: 'GET', path: '/version' }, signal)
  return { version: CRI_VERSION, runtimeName: 'docker', runtimeVersion, runtimeApiVersion: 'v1' }
}

/** With ids of its own Docker can share neither the node's namespaces nor files that the agent prepares for pods. */
function refuseRemapped({ SecurityOptions: options }: DockerInfo): void {
  const kind = ['rootless', 'userns'].find((name) => options?.includes(`name=${name}`))
  if (kind === undefined) return
  const detail = `Docker runs ${kind === 'rootless' ? 'without root' : 'with userns-remap'}, which pods cannot run on: expected one with the ids of the node`
  throw new CriCallError('version', 'FailedPrecondition', detail)
}

/** Docker is ready when it answers, and its own network is ready with it; that of CNI is where a configuration is. While it is away the call fails, as that of any runtime. */
export async function status(
  { api, daemon, networks }: DockerDeps,
  _request: CriRequest<'status'>,
  signal: AbortSignal,
): Promise<CriResponse<'status'>> {
  const { Runtimes: runtimes } = await daemon.info(signal)
  // Asked each time: what is kept of an earlier answer says nothing of now.
  await api.json({ method: 'GET', path: '/version' }, signal)
  const isRecursive = hasApi(await api.version(signal), RECURSIVE_READ_ONLY_SINCE)
  const features = { recursiveReadOnlyMounts: isRecursive, userNamespaces: false }
  const names = ['', DEFAULT_HANDLER, ...Object.keys(runtimes ?? {})]
  const fault = await networks?.findFault()
  const conditions = [
    { type: 'RuntimeReady', status: true, reason: '', message: '' },
    {
      type: 'NetworkReady',
      status: fault === undefined,
      reason: fault === undefined ? '' : 'NetworkPluginNotReady',
      message: fault ?? '',
    },
  ]
  return {
    status: { conditions },
    info: {},
    runtimeHandlers: names.map((name) => RuntimeHandler.fromPartial({ name, features })),
    features: { supplementalGroupsPolicy: false, userNamespacesHostNetwork: false },
  }
}

/** The runtime of Docker behind a handler: empty for the default one. */
export function requireRuntime({ Runtimes: runtimes }: DockerInfo, handler: string): string {
  if (handler === '' || handler === DEFAULT_HANDLER) return ''
  if (runtimes && Object.hasOwn(runtimes, handler)) return handler
  const detail = `failed to get sandbox runtime: no runtime for "${handler}" is configured`
  throw new CriCallError('runPodSandbox', 'Unknown', detail)
}

export async function runtimeConfig(
  { daemon }: DockerDeps,
  _request: CriRequest<'runtimeConfig'>,
  signal: AbortSignal,
): Promise<CriResponse<'runtimeConfig'>> {
  const { CgroupDriver: driver } = await daemon.info(signal)
  return { linux: { cgroupDriver: driver === 'systemd' ? CgroupDriver.SYSTEMD : CgroupDriver.CGROUPFS } }
}

/** Docker's bridge has the addresses that Docker is configured with: only CNI plugins take some from the cluster. */
export async function updateRuntimeConfig(
  { networks }: DockerDeps,
  { runtimeConfig }: CriRequest<'updateRuntimeConfig'>,
): Promise<CriResponse<'updateRuntimeConfig'>> {
  const podCidr = runtimeConfig?.networkConfig?.podCidr ?? ''
  if (podCidr !== '') networks?.setPodCidr(podCidr)
  return {}
}
