import type { CpuSet } from '../../model/resources/cpu-set.ts'
import { formatCpuSet } from '../../model/resources/cpu-set.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { CpuAssignmentTable } from './cpu-state.ts'

/** A container that has to run on other CPUs than it does, as far as is known. */
export interface CpusetUpdate {
  readonly uid: PodUid
  /** Of the container. */
  readonly name: string
  readonly id: string
  readonly cpus: string
  /** No other container runs on them. */
  readonly exclusive: boolean
}

export interface WantedCpus {
  readonly assignments: CpuAssignmentTable
  /** Of all others. */
  readonly pool: CpuSet
  /** The containers of a pod that share its CPUs with each other. */
  readonly sharingOf?: ((uid: PodUid) => ReadonlySet<string> | undefined) | undefined
}

/** Which running containers have to be moved: those that were not put where they belong yet. */
export function computeCpusetUpdates(
  pods: readonly ObservedPod[],
  wanted: WantedCpus,
  /** What was last set, by the id of the container. */
  applied: ReadonlyMap<string, string>,
): readonly CpusetUpdate[] {
  const pool = formatCpuSet(wanted.pool)
  return pods.flatMap(({ uid, containers }) => {
    const sharing = wanted.sharingOf?.(uid)
    return containers.flatMap(({ id, name, state }) => {
      if (state !== 'running') return []
      const own = wanted.assignments.get(uid)?.get(name)
      const cpus = own === undefined ? pool : formatCpuSet(own)
      const exclusive = own !== undefined && sharing?.has(name) !== true
      return cpus === '' || applied.get(id) === cpus ? [] : [{ uid, name, id, cpus, exclusive }]
    })
  })
}
