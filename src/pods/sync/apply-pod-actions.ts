import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { allContainers, containerFieldPath, isSidecar } from '../../model/pod/pod-containers.ts'
import type { KindedContainer } from '../../model/pod/pod-containers.ts'
import { podLogName, podText } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { sameResources } from '../../model/resources/same-resources.ts'
import { StartError } from '../../model/pod/start-error.ts'
import type { ApplySignals } from './apply-signals.ts'
import { computeContainerGrace } from './decide/compute-grace.ts'
import { computeNextBackOff, crashBackOffKey } from './decide/compute-crash-back-off.ts'
import { createSandbox, describeSandbox } from './start/create-sandbox.ts'
import type { PodSandboxInUse, SandboxDeps } from './start/create-sandbox.ts'
import { Grace } from './stop/grace.ts'
import { runPostStart } from './hooks/run-post-start.ts'
import type { ContainerKill, ContainerStart, PodActions } from './decide/pod-actions.ts'
import type { PodHistory } from './pod-history.ts'
import { removeLeftovers } from './stop/remove-leftovers.ts'
import { resetContainers } from './start/reset-containers.ts'
import { applyResize, PodResizeError } from './resize/apply-resize.ts'
import { effectiveResources } from './resize/compute-container-resize.ts'
import { startContainer } from './start/start-container.ts'
import { startPriority } from './decide/start-priority.ts'
import { stopContainer } from './stop/stop-container.ts'
import { findPodIp, stopPod } from './stop/stop-pod.ts'
import type { BackOffLimits } from '../../base/async/back-off.ts'
import { awaitVolumes, requestVolumeImages } from './start/request-images.ts'
import type { LocalImage, RequestImagesDeps, VolumeImages } from './start/request-images.ts'
import type { StartMetrics } from '../../metrics/start-metrics.ts'
import type { ApplyResizeDeps } from './resize/apply-resize.ts'
import type { ResetContainersDeps } from './start/reset-containers.ts'
import type { StartContainerDeps } from './start/start-container.ts'
import type { RemoveLeftoversDeps } from './stop/remove-leftovers.ts'
import type { StopPodDeps } from './stop/stop-pod.ts'

export type ApplyPodActionsDeps = SandboxDeps &
  StartContainerDeps &
  RequestImagesDeps &
  ResetContainersDeps &
  RemoveLeftoversDeps &
  StopPodDeps &
  ApplyResizeDeps & {
    readonly resizes: {
      /** What was granted could not be done; it is tried again. */
      failed(pod: Pod, message: string): void
    }
    readonly metrics: Pick<StartMetrics, 'containerStart'>
  }

export interface ApplyInput {
  readonly pod: Pod
  readonly observed: ObservedPod
  readonly actions: PodActions
  readonly history: PodHistory
  readonly backOffLimits: BackOffLimits
}

/** Carries out one pass, in the order of the plan. True when every container that should start did. */
export async function applyPodActions(
  deps: ApplyPodActionsDeps,
  input: ApplyInput,
  signals: ApplySignals,
): Promise<boolean> {
  const { pod, actions, observed, history } = input
  reportBackOff(deps, input)
  if (actions.killPod) {
    if (actions.createSandbox && actions.sandboxId !== '') {
      const message = 'Pod sandbox changed, it will be killed and re-created.'
      deps.events.record(pod, { type: 'Normal', reason: 'SandboxChanged', message })
    }
    using grace = new Grace({ clock: deps.clock, seconds: computeContainerGrace(pod), among: history.graces })
    await stopPod(deps, { pod, observed, grace }, signals.shutdown)
    if (actions.createSandbox) await removeInitContainers(deps, input, signals.shutdown)
  }
  for (const kill of actions.kill) await applyKill(deps, input, kill, signals.shutdown)
  if (actions.reset !== undefined) {
    for (const trigger of actions.reset.triggers) rememberStart(deps, input, trigger)
    await resetContainers(deps, { ...input, reset: actions.reset }, signals.shutdown)
  }
  const resized = await resize(deps, input, signals.shutdown)
  const starts = actions.createSandbox || actions.start.length > 0
  const complete = starts || keepsVolumeImages(input) ? await applyStarts(deps, input, starts, signals) : true
  return complete && resized
}

/** True unless what runs could not get what it was granted; users hear why, and it is tried again. */
async function resize(deps: ApplyPodActionsDeps, { pod, actions }: ApplyInput, signal: AbortSignal): Promise<boolean> {
  if (actions.resize === undefined) return true
  try {
    const sandboxId = actions.createSandbox ? '' : actions.sandboxId
    await applyResize(deps, { pod, sandboxId, actions: actions.resize }, signal)
    return true
  } catch (error) {
    if (!(error instanceof PodResizeError)) throw error
    const { uid } = pod.metadata
    deps.log.warn('cannot resize a pod, will try again', { pod: podLogName(pod), uid, error })
    deps.resizes.failed(pod, error.message)
    return false
  }
}

async function applyStarts(
  deps: ApplyPodActionsDeps,
  input: ApplyInput,
  starts: boolean,
  signals: ApplySignals,
): Promise<boolean> {
  const { pod, actions, observed, history } = input
  const existing = actions.createSandbox ? undefined : observed.sandboxes.find(({ id }) => id === actions.sandboxId)
  const request = { attempt: actions.attempt, reported: history.reportedWarnings, existing }
  const description = await describeSandbox(deps, pod, request)
  const wanted = { pod, sandbox: description.config, starts }
  const volumes = requestVolumeImages(deps, wanted, signals.superseded)
  if (!starts) {
    await Promise.allSettled(volumes.values())
    return true
  }
  const images = requestImages(deps, input, description.config, signals.superseded)
  const sandbox = actions.createSandbox
    ? await deps.starts.pass(
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

/** The images of volumes are looked after in every pass, also when no container starts: one may start any time. */
function keepsVolumeImages({ pod, observed, actions }: ApplyInput): boolean {
  const hasImages = pod.spec.volumes?.some(({ image }) => image !== undefined) === true
  return hasImages && !actions.killPod && observed.sandboxes.some(({ id, ready }) => ready && id === actions.sandboxId)
}

/** The newest sandbox's addresses, or the node's for pods in its network. */
function observedIps(deps: ApplyPodActionsDeps, { pod, observed }: ApplyInput): readonly string[] {
  return pod.spec.hostNetwork === true ? deps.node.container.ips : (observed.sandboxes[0]?.ips ?? [])
}

async function applyKill(
  deps: ApplyPodActionsDeps,
  input: ApplyInput,
  { id, name, cause, message }: ContainerKill,
  signal: AbortSignal,
): Promise<void> {
  const { pod, history } = input
  const container = allContainers(pod).find((kinded) => kinded.container.name === name)?.container
  const seconds = computeContainerGrace(pod, { container, cause })
  using grace = new Grace({ clock: deps.clock, seconds, among: history.graces })
  const podIp = findPodIp(deps, input)
  await stopContainer(deps, { pod, container: { id, name }, podIp, grace, message, after: [] }, signal)
}

type Images = ReadonlyMap<string, Promise<LocalImage>>

/** Asks for all images at once, so that they come while the sandbox is made. Failures are heard when a container needs its image. */
function requestImages(
  deps: ApplyPodActionsDeps,
  { pod, actions, history }: ApplyInput,
  sandbox: PodSandboxInUse['config'],
  signal: AbortSignal,
): Images {
  return new Map(
    actions.start.map(({ name }) => {
      const ensured = deps.images.ensure({ pod, kinded: findContainer(pod, name), sandbox }, signal)
      const image = history.startup.pulled(() => deps.clock.now(), ensured)
      image.catch(() => {})
      return [name, image] as const
    }),
  )
}

async function startAll(
  deps: ApplyPodActionsDeps,
  input: ApplyInput,
  parts: { readonly sandbox: PodSandboxInUse; readonly images: Images; readonly volumes: VolumeImages },
  signals: ApplySignals,
): Promise<boolean> {
  let all = true
  for (const start of input.actions.start) {
    const kinded = findContainer(input.pod, start.name)
    try {
      const imageVolumes = await awaitVolumes(deps, { pod: input.pod, kinded, images: parts.volumes })
      const image = await (parts.images.get(start.name) as Promise<LocalImage>)
      signals.superseded.throwIfAborted()
      rememberStart(deps, input, start)
      await noteResources(deps, input.pod, kinded)
      const request = { pod: input.pod, kinded, image, sandbox: parts.sandbox, observed: input.observed, imageVolumes }
      const containerId = await startContainer(deps, request, signals)
      // Outside the turnstile: a hook may take long, and other pods start meanwhile.
      const started = { ...input, kinded, containerId, podIp: parts.sandbox.ips[0] }
      await runPostStart(deps, started, signals)
      input.history.waiting.delete(start.name)
      deps.metrics.containerStart(kinded.kind, undefined)
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      deps.metrics.containerStart(kinded.kind, error.reason)
      input.history.waiting.set(start.name, { reason: error.reason, message: error.message })
      all = false
      // The containers after a plain init container need its work; those after a sidecar, or beside it, do not.
      if (kinded.kind === 'init' && !isSidecar(kinded.container)) return false
    }
  }
  return all
}

/** What the instance gets; one that was of another size before must not be taken for that again by a later agent. */
async function noteResources(
  { allocations }: ApplyPodActionsDeps,
  pod: Pod,
  { kind, container }: KindedContainer,
): Promise<void> {
  if (kind === 'ephemeral') return
  const before = allocations.actuated(pod.metadata.uid)?.containers.get(container.name)
  const resources = effectiveResources(container.resources, pod.spec.resources)
  allocations.noteContainer(pod, container.name, resources)
  if (before !== undefined && !sameResources(before, resources)) await allocations.saved()
}

/** A start that follows an exit makes the next one wait longer. */
function rememberStart(
  deps: ApplyPodActionsDeps,
  { pod, history, backOffLimits }: ApplyInput,
  { name, previousFinishedAt }: ContainerStart,
): void {
  if (previousFinishedAt === undefined) return
  const key = crashBackOffKey(findContainer(pod, name).container)
  const context = { limits: backOffLimits, now: deps.clock.now() }
  history.backOff.set(key, computeNextBackOff(history.backOff.get(key), previousFinishedAt, context))
}

function reportBackOff(deps: ApplyPodActionsDeps, { pod, actions, history }: ApplyInput): void {
  for (const { kind, name, delayMs } of actions.backingOff) {
    const message = `back-off ${formatSeconds(delayMs)} restarting failed container=${name} pod=${podText(pod)}`
    const said = history.waiting.get(name)
    if (said?.reason === 'CrashLoopBackOff' && said.message === message) continue
    history.waiting.set(name, { reason: 'CrashLoopBackOff', message })
    deps.events.record(pod, {
      type: 'Warning',
      reason: 'BackOff',
      message: `Back-off restarting failed container ${name} in pod ${podText(pod)}`,
      fieldPath: containerFieldPath(kind, name),
    })
  }
}

/** As Go prints durations: 40s, 1m20s, 5m0s. */
function formatSeconds(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}

/** In a new sandbox the init containers run again, so what they left must not count as done. */
async function removeInitContainers(
  deps: ApplyPodActionsDeps,
  { pod, observed }: ApplyInput,
  signal: AbortSignal,
): Promise<void> {
  const names = new Set((pod.spec.initContainers ?? []).map(({ name }) => name))
  const containers = observed.containers.filter(({ name }) => names.has(name))
  await removeLeftovers(deps, pod.metadata, { containers, sandboxes: [] }, signal)
}

function findContainer(pod: Pod, name: string): KindedContainer {
  const kinded = allContainers(pod).find(({ container }) => container.name === name)
  if (kinded === undefined) throw new Error(`Cannot start "${name}": the pod has no such container`)
  return kinded
}
