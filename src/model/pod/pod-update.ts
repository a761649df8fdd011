import type { Pod } from './pod.ts'

/** What changed about pods of one source. DELETE asks for a graceful end; REMOVE says that the source no longer has the pod. */
type PodOperation = 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE'

/** One step from the old set of pods of a source to the new one. */
export interface PodUpdate {
  readonly operation: PodOperation
  readonly source: string
  readonly pods: readonly Pod[]
}
