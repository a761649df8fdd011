import { computePodPaths } from '../../containers/pod-paths.ts'
import { computePodSandboxConfig } from '../../containers/compute-pod-sandbox-config.ts'
import type { PodSandboxPlan } from '../../containers/compute-pod-sandbox-config.ts'
import { SandboxConfigError } from '../../containers/pod-config-error.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { PodSandboxConfig } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { ObservedSandbox } from '../../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import { readResolver } from './read-resolver.ts'
import { resolveIsolation } from './resolve-isolation.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { Isolation, IsolationDeps } from './resolve-isolation.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { PodLifeMetrics } from '../../../metrics/pod-life-metrics.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { NodeSettings } from '../node-settings.ts'

export interface SandboxDeps extends IsolationDeps {
  readonly calls: Pick<CriCalls, 'runPodSandbox' | 'podSandboxStatus'>
  readonly volumes: {
    /** Groups that processes of the pod need for its volumes. */
    groups(uid: PodUid): readonly number[]
  }
  readonly files: {
    /** Makes directories that may be there already. */
    makeDirectories(paths: readonly string[]): Promise<void>
    readResolvConf(path: string): Promise<string>
  }
  readonly node: Pick<NodeSettings, 'rootDirectory' | 'sandbox' | 'container'>
  readonly events: PodEvents
  readonly metrics: Pick<PodLifeMetrics, 'sandboxStart'>
  readonly clock: Clock
}

/** What the sandbox could not be given as its pod asked. */
export type SandboxWarning = PodSandboxPlan['warnings'][number]

/** All that the runtime has to know to make the sandbox of a pod. */
export interface SandboxDescription extends Isolation {
  readonly config: PodSandboxConfig
  readonly warnings: readonly SandboxWarning[]
}

export interface PodSandboxInUse extends SandboxDescription {
  readonly id: string
  readonly ips: readonly string[]
}

export interface SandboxRequest {
  readonly attempt: number
  /** The sandbox that is in use, when none is to be made. */
  readonly existing: ObservedSandbox | undefined
}

/** A sandbox that could not be made; the pod is synced again later. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
  /** An earlier try is still under way in the runtime; no event says so yet. */
  readonly isUnderWay: boolean

  constructor(
    message: string,
    { isUnderWay = false, ...options }: ErrorOptions & { readonly isUnderWay?: boolean } = {},
  ) {
    super(message, options)
    this.isUnderWay = isUnderWay
  }
}

/** The description of the pod's sandbox that goes with every call about it. */
export async function describeSandbox(
  deps: SandboxDeps,
  pod: Pod,
  { attempt, existing }: SandboxRequest,
): Promise<SandboxDescription> {
  try {
    const isolation = await resolveIsolation(deps, pod, existing)
    const { config, warnings } = computePodSandboxConfig(
      pod,
      {
        attempt,
        userNamespace: isolation.userNamespace,
        volumeGroups: deps.volumes.groups(pod.metadata.uid),
        resolver: await readResolver(deps.files, deps.node.sandbox.dns.resolvConf),
      },
      deps.node.sandbox,
    )
    return { ...isolation, config, warnings }
  } catch (error) {
    if (!(error instanceof SandboxConfigError)) throw error
    throw sandboxFailure(deps, pod, `Failed to create pod sandbox: ${error.message}`, error)
  }
}

/** Makes the sandbox: the pod's namespaces and its network. */
export async function createSandbox(
  deps: SandboxDeps,
  pod: Pod,
  description: SandboxDescription,
  signal: AbortSignal,
): Promise<PodSandboxInUse> {
  const { config, runtimeHandler } = description
  await makeDirectories(deps, pod, config)
  const startedAt = deps.clock.monotonic()
  const reportRun = (failed: boolean) => {
    const seconds = (deps.clock.monotonic() - startedAt) / 1000
    deps.metrics.sandboxStart({
      failed,
      handler: runtimeHandler,
      hasOwnUsers: pod.spec.hostUsers === false,
      seconds,
    })
  }
  const { podSandboxId } = await inStep(
    () => deps.calls.runPodSandbox({ config, runtimeHandler }, signal),
    (error) => {
      reportRun(true)
      return sandboxFailure(deps, pod, `Failed to create pod sandbox: ${error.rpcText}`, error)
    },
  )
  reportRun(false)
  const ips = await inStep(
    () => readSandboxIps(deps, pod, podSandboxId, signal),
    (error) => {
      const message = `Unable to get pod sandbox status: ${error.rpcText}`
      deps.events.record(pod, { type: 'Warning', reason: 'FailedPodSandBoxStatus', message })
      return new SandboxError(message, { cause: error })
    },
  )
  return { ...description, id: podSandboxId, ips }
}

/** A failed call of the runtime becomes the failure that belongs to its step; our own abort stays what it is. */
async function inStep<T>(call: () => Promise<T>, toFailure: (error: CriCallError) => SandboxError): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw error instanceof CriCallError ? toFailure(error) : error
  }
}

async function makeDirectories(deps: SandboxDeps, pod: Pod, config: PodSandboxConfig): Promise<void> {
  const { directory } = computePodPaths(deps.node.rootDirectory, pod.metadata.uid)
  try {
    await deps.files.makeDirectories([directory, config.logDirectory])
  } catch (error) {
    const message = `error making pod data directories: ${errorMessage(error)}`
    deps.events.record(pod, { type: 'Warning', reason: 'Failed', message })
    throw new SandboxError(message, { cause: error })
  }
}

async function readSandboxIps(
  deps: SandboxDeps,
  pod: Pod,
  id: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (pod.spec.hostNetwork === true) return deps.node.container.ips
  const { status } = await deps.calls.podSandboxStatus({ podSandboxId: id }, signal)
  const network = status?.network
  return network === undefined
    ? []
    : [network.ip, ...network.additionalIps.map(({ ip }) => ip)].filter((ip) => ip !== '')
}

function sandboxFailure(deps: SandboxDeps, pod: Pod, message: string, cause: Error): SandboxError {
  // "Name is reserved": an earlier try is still under way in the runtime, and the next observation shows it.
  const isUnderWay = message.includes('is reserved for')
  if (!isUnderWay) deps.events.record(pod, { type: 'Warning', reason: 'FailedCreatePodSandBox', message })
  return new SandboxError(message, { cause, isUnderWay })
}
