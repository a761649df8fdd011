import type { Clock } from '../../../base/async/clock.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import type { PodStatus } from '../../../model/generated/core-v1.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { ReportedPod } from '../pod-registry.ts'

export interface RunOnceDeps {
  readonly views: () => readonly ReportedPod[]
  /** How many manifests were refused, or could not be read. */
  readonly refusals: () => number
  /** Have all sources reported what they have? */
  readonly allSeen: () => boolean
  /** Rung whenever the status of a pod may have changed. */
  readonly wakeup: Wakeup
  readonly clock: Clock
  readonly deadlineMs: number
  readonly write: (text: string) => void
}

/**
 * --runonce: waits until every pod of the manifests runs (or has ended, where its policy is to end), says how each of them is, and
 * returns the exit code: 0 when all run or succeeded, 1 when one does not or a manifest was refused. The pods stay.
 */
export async function reportRunOnce(deps: RunOnceDeps, signal: AbortSignal): Promise<number> {
  const giveUpAt = deps.clock.monotonic() + deps.deadlineMs
  while (!deps.allSeen() || deps.views().some((view) => outcomeOf(view, 'wait') === 'pending')) {
    const left = giveUpAt - deps.clock.monotonic()
    if (left <= 0) break
    await deps.wakeup.wait({ clock: deps.clock, ms: left }, signal)
  }
  const views = deps.views()
  for (const { pod, status } of views) deps.write(`${podLogName(pod)}: ${describe(status)}\n`)
  const failed = views.filter((view) => outcomeOf(view, 'judge') !== 'good').length
  const refusals = deps.refusals()
  const manifests = refusals === 0 ? '' : `, ${refusals} manifests or sources refused (see the log)`
  deps.write(`${views.length} pods, ${views.length - failed} run or succeeded, ${failed} did not${manifests}\n`)
  return failed === 0 && refusals === 0 && deps.allSeen() ? 0 : 1
}

type Outcome = 'good' | 'bad' | 'pending'

/** A pod is good when it succeeded or all its containers run. One that is made to end is waited for, and good while it still runs. */
function outcomeOf({ pod, status }: ReportedPod, purpose: 'wait' | 'judge'): Outcome {
  if (status.phase === 'Succeeded') return 'good'
  if (status.phase === 'Failed') return 'bad'
  const ready = status.conditions?.some(({ type, status: value }) => type === 'ContainersReady' && value === 'True')
  if (status.phase !== 'Running' || ready !== true) return 'pending'
  return purpose === 'wait' && pod.spec.restartPolicy !== 'Always' ? 'pending' : 'good'
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
