import { StartError } from '../../../model/pod/start-error.ts'
import { containerFieldPath } from '../../../model/pod/pod-containers.ts'
import type { PodContainer } from '../../../model/pod/pod-containers.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { computeContainerGrace } from '../decide/compute-grace.ts'
import { Grace } from '../stop/grace.ts'
import type { PodHistory } from '../pod-history.ts'
import { killText } from '../stop/kill-texts.ts'
import type { PodTermination } from '../stop/pod-termination.ts'
import { stopContainer } from '../stop/stop-container.ts'
import { HookError } from './hook-error.ts'
import { runHook } from './run-hook.ts'
import type { StopContainerDeps } from '../stop/stop-container.ts'

/** A container that was started a moment ago. */
export interface PostStart {
  readonly pod: Pod
  readonly podContainer: PodContainer
  readonly containerId: string
  readonly podIp: string | undefined
  readonly history: PodHistory
  readonly termination: PodTermination
}

/** Runs the hook of a container that has just started. When it fails the container is stopped, and did not start as far as users see. */
export async function runPostStart(
  deps: StopContainerDeps,
  started: PostStart,
  signals: { readonly shutdown: AbortSignal; readonly superseded: AbortSignal },
): Promise<void> {
  const { pod, podContainer } = started
  const { container } = podContainer
  const handler = container.lifecycle?.postStart
  if (handler === undefined) return
  try {
    await runHook(deps, { ...started, container, name: 'postStart', handler }, signals.superseded)
  } catch (error) {
    if (!(error instanceof HookError)) throw error
    const fieldPath = containerFieldPath(podContainer.kind, container.name)
    deps.events.record(pod, {
      type: 'Warning',
      reason: 'FailedPostStartHook',
      message: 'PostStartHook failed',
      fieldPath,
    })
    deps.log.warn('postStart hook failed, the container is stopped', {
      pod: podLogName(pod),
      uid: pod.metadata.uid,
      container: container.name,
      error,
    })
    await stopFailedStart(deps, started, signals.shutdown)
    throw new StartError('PostStartHookError', error.message, { cause: error })
  }
}

/** A later agent cannot know that the hook failed, so the note of the stop says it. */
async function stopFailedStart(deps: StopContainerDeps, started: PostStart, signal: AbortSignal): Promise<void> {
  const { pod, podContainer, containerId, history, termination } = started
  const { name } = podContainer.container
  const seconds = termination.beginStop(containerId, computeContainerGrace(pod), 'postStart')
  using grace = new Grace({ clock: deps.clock, seconds, among: history.graces })
  const message = killText({ what: 'Container', name }, 'postStart')
  const stop = { ...started, container: { id: containerId, name }, grace, message, after: [] }
  await termination.keepNoted(() => stopContainer(deps, stop, signal), signal)
  await termination.endStop(containerId, [containerId])
}
