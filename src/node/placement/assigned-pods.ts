import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

interface KnownPods {
  /** The pods that were admitted and have not ended. */
  readonly activePods: () => readonly Pod[]
  readonly observed: { get(uid: PodUid): ObservedPod | undefined }
}

/**
 * Which of these pods need nothing any more: they have ended, even if they are still shown. A pod that is being admitted is not active
 * yet.
 */
export function findEndedPods(
  { activePods, observed }: KnownPods,
  uids: Iterable<PodUid>,
  admitted?: PodUid,
): readonly PodUid[] {
  const active = new Set(activePods().map(({ metadata }) => metadata.uid))
  return [...new Set(uids)].filter((uid) => {
    const runs = observed.get(uid)?.containers.some(({ state }) => state === 'running') === true
    return uid !== admitted && !active.has(uid) && !runs
  })
}

interface ReadPlacesDeps<Place> {
  /** Is it recorded what this container has? */
  readonly isKnown: (uid: PodUid, container: string) => boolean
  readonly read: (
    container: { readonly uid: PodUid; readonly id: string },
    signal: AbortSignal,
  ) => Promise<Place | undefined>
  /** What the log says of a container that cannot be read: it must not stop the start. */
  readonly problem: string
  readonly log: Logger
}

/** The places of running containers without a record, as the kernel or the runtime reports them. */
export async function* readPlaces<Place>(
  { isKnown, read, problem, log }: ReadPlacesDeps<Place>,
  running: readonly ObservedPod[],
  signal: AbortSignal,
): AsyncGenerator<{ readonly uid: PodUid; readonly container: string; readonly place: Place }> {
  for (const { uid, containers } of running) {
    for (const { id, name, state } of containers) {
      if (state !== 'running' || isKnown(uid, name)) continue
      try {
        const place = await read({ uid, id }, signal)
        if (place !== undefined) yield { uid, container: name, place }
      } catch (error) {
        signal.throwIfAborted()
        log.warn(problem, { uid, id, error })
      }
    }
  }
}
