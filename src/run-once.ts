import type { Clock } from './async/clock.ts'
import { Wakeup } from './async/wakeup.ts'
import type { PodStatus } from './model/generated/core-v1.ts'
import { podLogName } from './model/pod.ts'
import type { PodView } from './pods/pod-workers.ts'

export interface RunOnceDeps {
  readonly views: () => readonly PodView[]
  /** Have all sources told what they have? */
  readonly allSeen: () => boolean
  /** Rung whenever the status of a pod may have changed. */
  readonly bell: Wakeup
  readonly clock: Clock
  readonly deadlineMs: number
  readonly write: (text: string) => void
}

/**
 * --runonce: waits until every pod of the manifests runs or has ended, says how each of them is, and returns the exit code: 0 when all
 * run or succeeded, 1 otherwise. The pods stay.
 */
export async function reportRunOnce(deps: RunOnceDeps, signal: AbortSignal): Promise<number> {
  const giveUpAt = deps.clock.now() + deps.deadlineMs
  while (!deps.allSeen() || deps.views().some(({ status }) => outcomeOf(status) === 'pending')) {
    const left = giveUpAt - deps.clock.now()
    if (left <= 0) break
    await deps.bell.wait({ clock: deps.clock, ms: left }, signal)
  }
  const views = deps.views()
  for (const { pod, status } of views) deps.write(`${podLogName(pod)}: ${describe(status)}\n`)
  const failed = views.filter(({ status }) => outcomeOf(status) !== 'good').length
  deps.write(`${views.length} pods, ${views.length - failed} run or succeeded, ${failed} did not\n`)
  return failed === 0 && deps.allSeen() ? 0 : 1
}

type Outcome = 'good' | 'bad' | 'pending'

/** A pod is good when it succeeded or all its containers run; one that crashes or cannot start is not good yet. */
function outcomeOf(status: PodStatus): Outcome {
  if (status.phase === 'Succeeded') return 'good'
  if (status.phase === 'Failed') return 'bad'
  const ready = status.conditions?.some(({ type, status: value }) => type === 'ContainersReady' && value === 'True')
  return status.phase === 'Running' && ready === true ? 'good' : 'pending'
}

function describe(status: PodStatus): string {
  const waiting = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].flatMap(
    ({ name, state }) =>
      state?.waiting?.reason === undefined
        ? []
        : [
            `${name}: ${state.waiting.reason}${state.waiting.message === undefined ? '' : ` (${state.waiting.message})`}`,
          ],
  )
  const why = status.message ?? waiting.join('; ')
  return `${status.phase ?? 'Unknown'}${why === '' ? '' : `: ${why}`}`
}
