import { AbortScope } from '../../../base/async/abort-scope.ts'
import type { Turnstile } from '../../../base/async/turnstile.ts'
import type { PodLifeMetrics } from '../../../metrics/pod-life-metrics.ts'
import type { PodStartMetrics } from '../../../metrics/pod-start-metrics.ts'
import { findContainer, isSidecar } from '../../../model/pod/pod-containers.ts'
import type { PodContainer } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { StartError } from '../../../model/pod/start-error.ts'
import { sameResources } from '../../../model/resources/same-resources.ts'
import type { PodAllocations } from '../../allocations/pod-allocations.ts'
import { startPriority } from '../decide/start-priority.ts'
import { runPostStart } from '../hooks/run-post-start.ts'
import { rememberRestart } from '../pod-history.ts'
import type { PassSignals, PodPass } from '../pod-pass.ts'
import { reportSandboxWarnings } from '../report/report-lasting.ts'
import { effectiveResources } from '../resize/compute-container-resize.ts'
import type { StopContainerDeps } from '../stop/stop-container.ts'
import { createSandbox, describeSandbox } from './create-sandbox.ts'
import type { PodSandboxInUse, SandboxDeps } from './create-sandbox.ts'
import { awaitVolumes, requestImages, requestVolumeImages } from './request-images.ts'
import type { ContainerImages, LocalImage, RequestImagesDeps, VolumeImages } from './request-images.ts'
import { startContainer } from './start-container.ts'
import type { StartContainerDeps } from './start-container.ts'

export type StartContainersDeps = SandboxDeps &
  RequestImagesDeps &
  StartContainerDeps &
  StopContainerDeps & {
    readonly starts: Pick<Turnstile, 'runInTurn'>
    readonly allocations: Pick<PodAllocations, 'actuated' | 'noteContainer' | 'saved'>
    readonly metrics: Pick<PodStartMetrics, 'containerStart'> & Pick<PodLifeMetrics, 'ownUsersStartFailed'>
  }

// Most images are there by then, and need no word of their own to the API.
const SLOW_IMAGE_MS = 1000

/** Starts the containers that the plan names, in its order and in a new sandbox where it says so. True when all of them did. */
export async function startContainers(
  deps: StartContainersDeps,
  input: PodPass,
  signals: PassSignals,
): Promise<boolean> {
  const { pod, actions } = input
  if (!actions.createSandbox || pod.spec.hostUsers !== false) return await startPlanned(deps, input, signals)
  // That users cannot be had shows in the sandbox or, with most runtimes, in its first containers.
  let isStarted = false
  try {
    isStarted = await startPlanned(deps, input, signals)
    return isStarted
  } finally {
    if (!isStarted && !signals.superseded.aborted) deps.metrics.ownUsersStartFailed()
  }
}

async function startPlanned(deps: StartContainersDeps, input: PodPass, signals: PassSignals): Promise<boolean> {
  const { pod, actions, observed, history } = input
  const starts = actions.createSandbox || actions.start.length > 0
  if (!starts && !keepsVolumeImages(input)) return true
  const existing = actions.createSandbox ? undefined : observed.sandboxes.find(({ id }) => id === actions.sandboxId)
  const description = await describeSandbox(deps, pod, { attempt: actions.attempt, existing })
  history.sandboxWarnings = description.warnings
  reportSandboxWarnings(deps, input)
  const forImages = { sandbox: description.config, runtimeHandler: description.runtimeHandler }
  const volumes = requestVolumeImages(deps, { pod, sandbox: forImages, starts }, signals.superseded)
  if (!starts) {
    await Promise.allSettled(volumes.values())
    return true
  }
  const images = requestImages(deps, input, forImages, signals.superseded)
  const sandbox = actions.createSandbox
    ? await deps.starts.runInTurn(
        startPriority(pod, 'sandbox'),
        async () => {
          history.lastSandboxAt = deps.clock.monotonic()
          return createSandbox(deps, pod, description, signals.shutdown)
        },
        signals.superseded,
      )
    : { ...description, id: actions.sandboxId, ips: observedIps(deps, input) }
  return await startAll(deps, input, { sandbox, images, volumes }, signals)
}

/** The images of volumes are kept in every pass, also when no container starts: one may start any time. */
function keepsVolumeImages({ pod, observed, actions }: PodPass): boolean {
  const hasImages = pod.spec.volumes?.some(({ image }) => image !== undefined) === true
  return hasImages && !actions.killPod && observed.sandboxes.some(({ id, ready }) => ready && id === actions.sandboxId)
}

/** The newest sandbox's addresses, or the node's for pods in its network. */
function observedIps(deps: StartContainersDeps, { pod, observed }: PodPass): readonly string[] {
  return pod.spec.hostNetwork === true ? deps.node.container.ips : (observed.sandboxes[0]?.ips ?? [])
}

async function startAll(
  deps: StartContainersDeps,
  input: PodPass,
  parts: { readonly sandbox: PodSandboxInUse; readonly images: ContainerImages; readonly volumes: VolumeImages },
  signals: PassSignals,
): Promise<boolean> {
  let all = true
  let isReported = !input.actions.createSandbox
  const report = async () => {
    isReported = true
    await input.reportNow()
  }
  const patiently = <T>(promise: Promise<T>) =>
    isReported ? promise : orReport(deps, { promise, report }, signals.superseded)
  // A hook may need the network, which some nodes give to addresses that the API knows; this pass ends only after the hook.
  if (!isReported && input.actions.start.some(({ name }) => hasPostStart(findContainer(input.pod, name))))
    await report()
  for (const start of input.actions.start) {
    const podContainer = findContainer(input.pod, start.name)
    try {
      const imageVolumes = await patiently(awaitVolumes(deps, { pod: input.pod, podContainer, images: parts.volumes }))
      const image = await patiently(parts.images.get(start.name) as Promise<LocalImage>)
      signals.superseded.throwIfAborted()
      rememberRestart(input, start, deps.clock.monotonic())
      await noteResources(deps, input.pod, podContainer)
      const restartCountBefore = input.history.restartCounts.get(start.name)
      const request = { ...input, podContainer, image, sandbox: parts.sandbox, restartCountBefore, imageVolumes }
      const containerId = await startContainer(deps, request, signals)
      // Without a start slot: a hook may take long, and other pods start meanwhile.
      const started = { ...input, podContainer, containerId, podIp: parts.sandbox.ips[0] }
      await runPostStart(deps, started, signals)
      input.history.waiting.delete(start.name)
      deps.metrics.containerStart(podContainer.kind, undefined)
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      deps.metrics.containerStart(podContainer.kind, error.reason)
      input.history.waiting.set(start.name, { reason: error.reason, message: error.message })
      all = false
      // The containers after a plain init container need its work; those after a sidecar, or beside it, do not.
      if (podContainer.kind === 'init' && !isSidecar(podContainer.container)) return false
    }
  }
  return all
}

function hasPostStart({ container }: PodContainer): boolean {
  return container.lifecycle?.postStart !== undefined
}

/** The API learns of the new sandbox before an image is there that takes long. */
async function orReport<T>(
  { clock }: StartContainersDeps,
  { promise, report }: { readonly promise: Promise<T>; readonly report: () => Promise<void> },
  signal: AbortSignal,
): Promise<T> {
  using scope = new AbortScope(signal)
  const late = clock.sleep(SLOW_IMAGE_MS, scope.signal).then(() => true)
  const isLate = await Promise.race([late, promise.then(() => false)])
  if (isLate) await report()
  return await promise
}

/** What the instance gets; one that was of another size before must not be taken for that again by a later agent. */
async function noteResources(
  { allocations }: StartContainersDeps,
  pod: Pod,
  { kind, container }: PodContainer,
): Promise<void> {
  if (kind === 'ephemeral') return
  const before = allocations.actuated(pod.metadata.uid)?.containers.get(container.name)
  const resources = effectiveResources(container.resources, pod.spec.resources)
  allocations.noteContainer(pod, container.name, resources)
  if (before !== undefined && !sameResources(before, resources)) await allocations.saved()
}
