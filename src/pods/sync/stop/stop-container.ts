import { AbortScope } from '../../../base/async/abort-scope.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { ObservedContainer } from '../../../model/pod/observed-pod.ts'
import { allContainers, containerFieldPath, containerKind } from '../../../model/pod/pod-containers.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { Grace } from './grace.ts'
import type { PodTermination } from './pod-termination.ts'
import { HookError } from '../hooks/hook-error.ts'
import { runHook } from '../hooks/run-hook.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { PodLifeMetrics } from '../../../metrics/pod-life-metrics.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { HookDeps } from '../hooks/run-hook.ts'

export type StopContainerDeps = HookDeps & {
  readonly calls: Pick<CriCalls, 'stopContainer'>
  readonly metrics: Pick<PodLifeMetrics, 'sleepCutShort'>
  readonly log: Logger
}

// A container always gets this long between the signal and its death.
const SHORTEST_STOP_SECONDS = 2

export interface ContainerStop {
  /** Undefined for an orphan: what is left of a pod that no source has. */
  readonly pod: Pod | undefined
  readonly container: Pick<ObservedContainer, 'id' | 'name'>
  readonly podIp: string | undefined
  readonly grace: Grace
  /** Undefined where nothing is remembered of its end: it has no grace, or was just started. */
  readonly termination?: PodTermination | undefined
  /** The text of the event that users see. */
  readonly message: string
  /** Ends of other containers that its signal waits for; its hook does not. */
  readonly after: readonly Promise<unknown>[]
}

/** Stops one container: records the event, runs its hook, waits for the containers that end before it, and gives it what is left of the grace. */
export async function stopContainer(deps: StopContainerDeps, stop: ContainerStop, signal: AbortSignal): Promise<void> {
  // A hook that takes too long is left alone until its container has ended.
  using hook = new AbortScope(signal)
  if (stop.pod !== undefined) {
    report(deps, stop.pod, { type: 'Normal', reason: 'Killing', message: stop.message, stop })
    await runPreStop(deps, { ...stop, pod: stop.pod }, hook.signal)
  }
  if (stop.after.length > 0) await stop.grace.waitFor(Promise.allSettled(stop.after), signal)
  await callStop(deps, stop, signal)
}

async function runPreStop(
  deps: StopContainerDeps,
  stop: ContainerStop & { readonly pod: Pod },
  signal: AbortSignal,
): Promise<void> {
  const { pod, grace, termination } = stop
  const container = allContainers(pod).find(
    (podContainer) => podContainer.container.name === stop.container.name,
  )?.container
  const handler = container?.lifecycle?.preStop
  if (container === undefined || handler === undefined) return
  const { id } = stop.container
  const noted = termination?.hook(id)
  if (noted?.ended === true) return
  // One that an earlier agent began and did not survive is owed, also when no grace is left: the runtime killed its command with that agent.
  const leastSeconds = noted === undefined ? 0 : SHORTEST_STOP_SECONDS
  if (grace.secondsLeft === 0 && leastSeconds === 0) return
  const fields = { pod: podLogName(pod), uid: pod.metadata.uid, container: container.name }
  try {
    const request = {
      pod,
      container,
      containerId: id,
      podIp: stop.podIp,
      name: 'preStop' as const,
      handler,
      hasRunMs: termination?.beginHook(id) ?? 0,
    }
    const inTime = await grace.waitFor(runHook(deps, request, signal), signal, leastSeconds)
    if (!inTime) deps.log.warn('preStop hook took longer than the grace period', fields)
    if (!inTime && handler.sleep !== undefined) deps.metrics.sleepCutShort()
  } catch (error) {
    if (!(error instanceof HookError)) throw error
    report(deps, pod, { type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed', stop })
    deps.log.warn('preStop hook failed', { ...fields, error })
  }
  await termination?.endHook(id)
}

function report(
  deps: StopContainerDeps,
  pod: Pod,
  event: {
    readonly type: 'Normal' | 'Warning'
    readonly reason: string
    readonly message: string
    readonly stop: ContainerStop
  },
): void {
  const { type, reason, message, stop } = event
  const { name } = stop.container
  const fieldPath = containerFieldPath(containerKind(pod, name), name)
  deps.events.record(pod, { type, reason, message, fieldPath })
}

/** A grace that becomes shorter meanwhile is given to the runtime again; runtimes that we know do not send the signal twice. */
async function callStop(
  deps: StopContainerDeps,
  { container, grace }: Pick<ContainerStop, 'container' | 'grace'>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    using call = new AbortScope(signal)
    const timeout = BigInt(Math.max(grace.secondsLeft, SHORTEST_STOP_SECONDS))
    const stopped = unlessGone(deps.calls.stopContainer({ containerId: container.id, timeout }, call.signal))
    const shorter = grace.shortened.then(() => 'shorter')
    if ((await Promise.race([stopped, shorter])) !== 'shorter') return
  }
}

/** What the runtime no longer knows has stopped. */
export async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!(error instanceof CriCallError && error.code === 'NotFound')) throw error
  }
}
