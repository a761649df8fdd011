import type { ObservedContainer, ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { PodUid } from '../../../model/pod/pod.ts'

/** Whose process it was. */
export interface OomVictim {
  readonly uid: PodUid
  /** Undefined when it belongs to none of the containers that are known. */
  readonly container: ObservedContainer | undefined
}

/** Finds the pod that a cgroup belongs to: runtimes name those of containers by their ids, below one that has the pod's. */
export function computeOomVictim(cgroup: string, pods: readonly ObservedPod[]): OomVictim | undefined {
  for (const { uid, containers } of pods) {
    const container = containers.find(({ id }) => id !== '' && cgroup.includes(id))
    if (container !== undefined) return { uid, container }
  }
  const names = cgroup.split('/').map((part) => part.replace(/\.slice$/, ''))
  const owner = pods.find(({ uid }) =>
    names.some((name) => name === `pod${uid}` || name.endsWith(`-pod${uid.replaceAll('-', '_')}`)),
  )
  return owner && { uid: owner.uid, container: undefined }
}
