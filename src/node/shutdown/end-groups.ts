import { DeadlineError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { podLogName } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { ShutdownGroup } from './compute-shutdown-groups.ts'

/** Ends pods. */
export interface ShutdownPods {
  /** The pods that were admitted and have not ended. */
  activePods(): readonly Pod[]
  /** Ends a pod; resolves when nothing of it runs and none of its volumes is mounted any more. */
  shutDown(uid: PodUid, graceSeconds: number | undefined, signal: AbortSignal): Promise<void>
  /** The node stays: pods that no controller replaces run again. */
  runAgain(): void
  /** All desired pods are known. */
  areKnown(): boolean
}

export interface EndGroupsDeps {
  readonly pods: Pick<ShutdownPods, 'shutDown'>
  readonly clock: Clock
  readonly log: Logger
  /** Called with each step. */
  readonly say: (line: string) => void
  /** The time of a group begins. Never fails. */
  readonly onBegin: (group: ShutdownGroup) => Promise<void>
}

/**
 * Ends pods group by group: a group gets its time and not more, then the next begins. So storage and network, which end last, are
 * there as long as other pods use them. An abort leaves the groups that were not reached as they are.
 */
export async function endGroups(
  deps: EndGroupsDeps,
  groups: readonly ShutdownGroup[],
  signal: AbortSignal,
): Promise<void> {
  for (const group of groups) {
    signal.throwIfAborted()
    await deps.onBegin(group)
    await endGroup(deps, group, signal)
  }
}

async function endGroup(deps: EndGroupsDeps, group: ShutdownGroup, signal: AbortSignal): Promise<void> {
  const { clock, log, say } = deps
  const { priority, seconds, pods } = group
  const limit = seconds === undefined ? '' : `, at most ${seconds} s`
  say(`ending ${pods.length === 1 ? '1 pod' : `${pods.length} pods`} of priority ${priority} and above${limit}`)
  const end = (until: AbortSignal) => Promise.all(pods.map((each) => endPod(deps, each, until)))
  if (seconds === undefined) return void (await end(signal))
  try {
    await withDeadline({ clock, ms: seconds * 1000, what: `the pods of priority ${priority}` }, end, signal)
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error
    log.warn('pods did not end in the time that their priority gets at a shutdown, going on', { priority, seconds })
    say(`time is up for priority ${priority}`)
  }
}

/** A pod that fails to end does not keep others from ending. */
async function endPod(
  { pods, log }: EndGroupsDeps,
  { pod, graceSeconds }: ShutdownGroup['pods'][number],
  signal: AbortSignal,
): Promise<void> {
  const name = podLogName(pod)
  log.info('ending a pod, the node shuts down', { pod: name, graceSeconds })
  try {
    await pods.shutDown(pod.metadata.uid, graceSeconds, signal)
  } catch (error) {
    if (signal.aborted) throw error
    log.warn('cannot end a pod before the node shuts down', { pod: name, error })
  }
}
