import { allContainers, containerFieldPath } from '../../model/pod/pod-containers.ts'
import { podLogName, podText } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { computeContainerGrace } from './decide/compute-grace.ts'
import type { ContainerKill } from './decide/pod-actions.ts'
import { rememberRestart } from './pod-history.ts'
import type { PassSignals, PodPass } from './pod-pass.ts'
import { reportLasting } from './report/report-lasting.ts'
import { applyResize, PodResizeError } from './resize/apply-resize.ts'
import type { ApplyResizeDeps } from './resize/apply-resize.ts'
import { resetContainers } from './start/reset-containers.ts'
import type { ResetContainersDeps } from './start/reset-containers.ts'
import { startContainers } from './start/start-containers.ts'
import type { StartContainersDeps } from './start/start-containers.ts'
import { Grace } from './stop/grace.ts'
import { removeLeftovers } from './stop/remove-leftovers.ts'
import type { RemoveLeftoversDeps } from './stop/remove-leftovers.ts'
import { stopContainer } from './stop/stop-container.ts'
import { findPodIp, stopPod } from './stop/stop-pod.ts'
import type { StopPodDeps } from './stop/stop-pod.ts'

export type ApplyPodActionsDeps = StartContainersDeps &
  ResetContainersDeps &
  RemoveLeftoversDeps &
  StopPodDeps &
  ApplyResizeDeps & {
    readonly resizes: {
      /** What was granted could not be done; it is tried again. */
      failed(pod: Pod, message: string): void
    }
  }

/** Carries out one pass, in the order of the plan. True when every container that should start did. */
export async function applyPodActions(
  deps: ApplyPodActionsDeps,
  input: PodPass,
  signals: PassSignals,
): Promise<boolean> {
  const { pod, actions } = input
  reportBackOff(deps, input)
  if (actions.killPod) {
    if (actions.createSandbox && actions.sandboxId !== '') {
      const message = 'Pod sandbox changed, it will be killed and re-created.'
      deps.events.record(pod, { type: 'Normal', reason: 'SandboxChanged', message })
    }
    await stopAll(deps, input, signals.shutdown)
    if (actions.createSandbox) await removeInitContainers(deps, input, signals.shutdown)
  }
  for (const kill of actions.kill) await applyKill(deps, input, kill, signals.shutdown)
  if (actions.reset !== undefined) {
    for (const trigger of actions.reset.triggers) rememberRestart(input, trigger, deps.clock.monotonic())
    await resetContainers(deps, { ...input, reset: actions.reset }, signals.shutdown)
  }
  const resized = await resize(deps, input, signals.shutdown)
  const complete = await startContainers(deps, input, signals)
  return complete && resized
}

/** True unless what runs could not get what it was granted; an event says why, and it is tried again. */
async function resize(deps: ApplyPodActionsDeps, { pod, actions }: PodPass, signal: AbortSignal): Promise<boolean> {
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

/** Everything of the pod stops, and the pod goes on. */
async function stopAll(deps: ApplyPodActionsDeps, input: PodPass, signal: AbortSignal): Promise<void> {
  const { pod, actions, observed, history, termination } = input
  const seconds = termination.beginStop(actions.sandboxId, computeContainerGrace(pod))
  using grace = new Grace({ clock: deps.clock, seconds, among: history.graces })
  const { stoppedSandboxes } = history
  const stop = () => stopPod(deps, { pod, observed, grace, stoppedSandboxes, termination }, signal)
  await termination.keepNoted(stop, signal)
  await termination.endStop(
    actions.sandboxId,
    observed.containers.map(({ id }) => id),
  )
}

async function applyKill(
  deps: ApplyPodActionsDeps,
  input: PodPass,
  { id, name, cause, message }: ContainerKill,
  signal: AbortSignal,
): Promise<void> {
  const { pod, history, termination } = input
  const container = allContainers(pod).find((podContainer) => podContainer.container.name === name)?.container
  const seconds = termination.beginStop(id, computeContainerGrace(pod, { container, cause }), cause)
  using grace = new Grace({ clock: deps.clock, seconds, among: history.graces })
  const podIp = findPodIp(deps, input)
  // The pod goes on: why its container does not is worth a step of its own.
  await deps.noteStep(message, () => Promise.resolve())
  const stop = { pod, container: { id, name }, podIp, grace, termination, message, after: [] }
  await termination.keepNoted(() => stopContainer(deps, stop, signal), signal)
  await termination.endStop(id, [id])
}

function reportBackOff(deps: ApplyPodActionsDeps, { pod, actions, history }: PodPass): void {
  for (const { kind, name, delayMs } of actions.backingOff) {
    const message = `back-off ${formatSeconds(delayMs)} restarting failed container=${name} pod=${podText(pod)}`
    history.waiting.set(name, { reason: 'CrashLoopBackOff', message })
    const fieldPath = containerFieldPath(kind, name)
    reportLasting(
      deps,
      { pod, history },
      {
        subject: fieldPath,
        // Each longer wait is news.
        text: message,
        reason: 'BackOff',
        message: `Back-off restarting failed container ${name} in pod ${podText(pod)}`,
        fieldPath,
      },
    )
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
  { pod, observed, history }: PodPass,
  signal: AbortSignal,
): Promise<void> {
  const names = new Set((pod.spec.initContainers ?? []).map(({ name }) => name))
  const containers = observed.containers.filter(({ name }) => names.has(name))
  await removeLeftovers(deps, { ...pod.metadata, history }, { containers, sandboxes: [] }, signal)
}
