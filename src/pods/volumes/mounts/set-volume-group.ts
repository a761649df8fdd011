import { AbortScope } from '../../../base/async/abort-scope.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { GuardedFiles } from '../../../system/guarded/guarded-files.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'

export interface VolumeGroupDeps {
  readonly guarded: Pick<GuardedFiles, 'setOwnership'>
  readonly events: PodEvents
  readonly clock: Clock
  readonly log: Logger
}

export interface VolumeGroupRequest {
  readonly pod: Pod
  readonly root: string
  readonly group: number
  readonly onlyOnRootMismatch: boolean
}

const FIRST_WORD_MS = 30_000
const NEXT_WORD_MS = 60_000
const LONG =
  'is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods'

/** Gives a volume to the fsGroup of its pod; when that takes long, events on the pod say how far it is. */
export async function setVolumeGroup(
  { guarded, events, clock, log }: VolumeGroupDeps,
  { pod, root, group, onlyOnRootMismatch }: VolumeGroupRequest,
  signal: AbortSignal,
): Promise<void> {
  using scope = new AbortScope(signal)
  let done = 0
  const report = async (): Promise<never> => {
    const record = (message: string) =>
      events.record(pod, { type: 'Warning', reason: 'VolumePermissionChangeInProgress', message })
    const place = root.slice(Math.max(0, root.indexOf(pod.metadata.uid)))
    await clock.sleep(FIRST_WORD_MS, scope.signal)
    record(`Setting volume ownership for ${place} ${LONG}`)
    for (;;) {
      await clock.sleep(NEXT_WORD_MS, scope.signal)
      record(`Setting volume ownership for ${place}, processed ${done} files.`)
    }
  }
  const request = { root, group, readOnly: false, onlyOnRootMismatch }
  const work = guarded.setOwnership(request, (entries) => void (done = entries), scope.signal)
  const { failed, firstFailure } = await Promise.race([work, report()])
  if (failed > 0) log.warn('some files of a volume keep their group', { root, group, failed, firstFailure })
}
