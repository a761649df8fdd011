import { StartError } from '../../../model/pod/start-error.ts'
import { containerFieldPath } from '../../../model/pod/pod-containers.ts'
import type { KindedContainer } from '../../../model/pod/pod-containers.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { computeContainerGrace } from '../decide/compute-grace.ts'
import { Grace } from '../stop/grace.ts'
import type { PodHistory } from '../pod-history.ts'
import { stopContainer } from '../stop/stop-container.ts'
import { HookError } from './hook-error.ts'
import { runHook } from './run-hook.ts'
import type { StopContainerDeps } from '../stop/stop-container.ts'

/** A container that was started a moment ago. */
export interface PostStart {
  readonly pod: Pod
  readonly kinded: KindedContainer
  readonly containerId: string
  readonly podIp: string | undefined
  readonly history: PodHistory
}

/** Runs the hook of a container that has just started. When it fails the container is stopped, and did not start as far as users see. */
export async function runPostStart(
  deps: StopContainerDeps,
  started: PostStart,
  signals: { readonly shutdown: AbortSignal; readonly superseded: AbortSignal },
): Promise<void> {
  const { pod, kinded, containerId } = started
  const { container } = kinded
  const handler = container.lifecycle?.postStart
  if (handler === undefined) return
  try {
    await runHook(deps, { ...started, container, name: 'postStart', handler }, signals.superseded)
  } catch (error) {
    if (!(error instanceof HookError)) throw error
    const fieldPath = containerFieldPath(kinded.kind, container.name)
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
    using grace = new Grace({
      clock: deps.clock,
      seconds: computeContainerGrace(pod),
      among: started.history.graces,
    })
    const message = `Container ${container.name} failed its postStart hook, will be stopped`
    const stop = { ...started, container: { id: containerId, name: container.name }, grace, message, after: [] }
    await stopContainer(deps, stop, signals.shutdown)
    throw new StartError('PostStartHookError', error.message, { cause: error })
  }
}
