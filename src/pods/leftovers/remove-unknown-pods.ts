import { CONTAINER_LOGS_DIRECTORY } from '../containers/log-paths.ts'
import type { createPodFiles } from '../../system/directories/pod-files.ts'
import { isPodUid } from '../../model/pod/pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { PodRegistry } from '../sync/pod-registry.ts'
import type { ExitJournal } from '../sync/report/exit-journal.ts'
import type { VolumeMetrics } from '../../metrics/volume-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { Volumes } from '../volumes/volumes.ts'

export interface RemoveUnknownPodsDeps {
  readonly files: Pick<ReturnType<typeof createPodFiles>, 'listPods' | 'listLogDirectories' | 'removeDanglingLinks'> & {
    removePod(uid: PodUid, logDirectory: string | undefined): Promise<unknown>
    removeLogDirectory(uid: PodUid, path: string): Promise<unknown>
  }
  readonly volumes: Pick<Volumes, 'has' | 'release'>
  readonly cgroups: {
    list(): Promise<readonly PodUid[]>
    /** Ends what runs in the cgroup of a pod. */
    quiesce(uid: PodUid): Promise<void>
    remove(uid: PodUid): Promise<void>
  }
  readonly journal: Pick<ExitJournal, 'uids' | 'forget'>
  readonly registry: Pick<PodRegistry, 'knows'>
  readonly observer: {
    /** Asks the runtime itself, now. */
    refresh(uid: PodUid): Promise<object | undefined>
  }
  readonly metrics: Pick<VolumeMetrics, 'orphanVolumes'>
  readonly podLogsDirectory: string
  readonly log: Logger
}

interface Removal {
  readonly uid: string
  readonly remove: (uid: PodUid) => Promise<unknown>
}

/**
 * Removes volumes, directories, logs and cgroups of pods that neither a source nor the runtime has: an agent that died while it cleaned up
 * leaves them. Failures are reported and harmless. Resolves to the number of pods whose volumes are still there: those are worth another try.
 */
export async function removeUnknownPods(deps: RemoveUnknownPodsDeps, signal: AbortSignal): Promise<number> {
  const { files, volumes, metrics } = deps
  const uids = await orNothing(deps, files.listPods())
  const withVolumes = uids.filter((uid) => isPodUid(uid) && volumes.has(uid) && !deps.registry.knows(uid))
  const others = uids.filter((uid) => !withVolumes.includes(uid))
  // Together: one that hangs delays no other.
  const [gone] = await Promise.all([
    Promise.all(withVolumes.map((uid) => removeWithVolumes(deps, uid, signal))),
    removeOthers(deps, others),
  ])
  const failed = gone.filter((done) => !done).length
  metrics.orphanVolumes(withVolumes.length - failed, failed)
  await files
    .removeDanglingLinks(CONTAINER_LOGS_DIRECTORY, deps.podLogsDirectory)
    .catch((error: unknown) => deps.log.warn('cannot remove links to logs that are gone', { error }))
  return failed
}

/**
 * False while its volumes are there: then its directory stays too, and its cgroup, which counts the memory of volumes. Volumes may take long to
 * go, and what runs in that cgroup meanwhile belongs to no pod.
 */
async function removeWithVolumes(deps: RemoveUnknownPodsDeps, uid: string, signal: AbortSignal): Promise<boolean> {
  await tryTo(deps, { uid, remove: (known) => deps.cgroups.quiesce(known) })
  if (!(await tryTo(deps, { uid, remove: (known) => removeVolumes(deps, known, signal) }))) return false
  await tryTo(deps, { uid, remove: (known) => deps.cgroups.remove(known) })
  await tryTo(deps, { uid, remove: (known) => removePod(deps, known) })
  return true
}

async function removeOthers(deps: RemoveUnknownPodsDeps, uids: readonly string[]): Promise<void> {
  for (const removal of await listRemovals(deps, uids)) await tryTo(deps, removal)
}

async function removePod({ files, volumes }: RemoveUnknownPodsDeps, uid: PodUid): Promise<void> {
  if (!volumes.has(uid)) await files.removePod(uid, undefined)
}

/** Nothing is taken from what runs, known or not. */
async function removeVolumes(deps: RemoveUnknownPodsDeps, uid: PodUid, signal: AbortSignal): Promise<void> {
  if ((await deps.observer.refresh(uid)) !== undefined) throw new Error('The runtime has the pod')
  if (!deps.registry.knows(uid)) await deps.volumes.release({ uid, noteStep: (_, work) => work() }, signal)
}

async function listRemovals(deps: RemoveUnknownPodsDeps, uids: readonly string[]): Promise<readonly Removal[]> {
  const { files, volumes, cgroups, journal, podLogsDirectory } = deps
  return [
    ...uids.map((uid) => ({ uid, remove: (known: PodUid) => removePod(deps, known) })),
    ...(await orNothing(deps, cgroups.list()))
      .filter((uid) => !volumes.has(uid))
      .map((uid) => ({ uid, remove: () => cgroups.remove(uid) })),
    ...(await orNothing(deps, files.listLogDirectories(podLogsDirectory))).map(({ uid, path }) => ({
      uid,
      remove: (known: PodUid) => files.removeLogDirectory(known, path),
    })),
    ...journal.uids().map((uid) => ({ uid, remove: () => journal.forget(uid) })),
  ]
}

/** Asks at the last moment who knows the pod: a removal takes its time, and pods may come meanwhile. False when it failed. */
async function tryTo({ registry, log }: RemoveUnknownPodsDeps, { uid, remove }: Removal): Promise<boolean> {
  if (!isPodUid(uid) || registry.knows(uid)) return true
  try {
    await remove(uid)
    return true
  } catch (error) {
    log.warn('cannot remove what is left of a pod', { uid, error })
    return false
  }
}

async function orNothing<T>({ log }: RemoveUnknownPodsDeps, list: Promise<readonly T[]>): Promise<readonly T[]> {
  return await list.catch((error: unknown) => {
    log.warn('cannot look for what is left of pods', { error })
    return []
  })
}
