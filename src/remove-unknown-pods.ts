import { CONTAINER_LOGS_DIRECTORY } from './containers/log-paths.ts'
import type { createPodFiles } from './host/pod-files.ts'
import { isPodUid } from './model/pod.ts'
import type { PodUid } from './model/pod.ts'
import type { ExitJournal } from './pods/exit-journal.ts'
import type { createPodCgroups } from './resources/pod-cgroups.ts'
import type { Logger } from './telemetry/logger.ts'

export interface RemoveUnknownPodsDeps {
  readonly files: ReturnType<typeof createPodFiles>
  readonly cgroups: Pick<ReturnType<typeof createPodCgroups>, 'list' | 'remove'>
  readonly journal: Pick<ExitJournal, 'uids' | 'forget'>
  /** Is this pod wanted here, or still being ended? */
  readonly knows: (uid: PodUid) => boolean
  readonly podLogsDirectory: string
  readonly log: Logger
}

/**
 * Removes directories, logs and cgroups of pods that neither a source nor the runtime has: an agent that died while it cleaned up
 * leaves them. Failures are told and harmless: the next start tries again.
 */
export async function removeUnknownPods({
  files,
  cgroups,
  journal,
  knows,
  podLogsDirectory,
  log,
}: RemoveUnknownPodsDeps): Promise<void> {
  const orNothing = async <T>(list: Promise<readonly T[]>): Promise<readonly T[]> =>
    await list.catch((error: unknown) => {
      log.warn('cannot look for what is left of pods', { error })
      return []
    })
  const removals = [
    ...(await orNothing(files.listPods())).map((uid) => ({ uid, remove: () => files.removePod(uid, undefined) })),
    ...(await orNothing(cgroups.list())).map((uid) => ({ uid, remove: () => cgroups.remove(uid) })),
    ...(await orNothing(files.listLogDirectories(podLogsDirectory))).map(({ uid, path }) => ({
      uid,
      remove: () => files.removeLogDirectory(path),
    })),
    ...journal.uids().map((uid) => ({ uid, remove: () => journal.forget(uid) })),
  ]
  for (const { uid, remove } of removals) {
    // Asked at the last moment: a removal takes its time, and pods may come meanwhile.
    if (!isPodUid(uid) || knows(uid)) continue
    await remove().catch((error: unknown) => log.warn('cannot remove what is left of a pod', { uid, error }))
  }
  await files
    .removeDanglingLinks(CONTAINER_LOGS_DIRECTORY, podLogsDirectory)
    .catch((error: unknown) => log.warn('cannot remove links to logs that are gone', { error }))
}
