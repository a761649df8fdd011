import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { Rejection } from './rejection.ts'

/**
 * Gives containers something of the node for themselves, when their pod is admitted. Placement is one: it gives CPUs, memory and
 * what else has a place in the machine.
 */
export interface ResourceProvider {
  /** Why the pod cannot have what it asks for; undefined when it has it now, or asks for nothing. */
  admit(pod: Pod): Rejection | undefined
  /** The pod does not run here after all, or has gone. */
  release(uid: PodUid): void
}
