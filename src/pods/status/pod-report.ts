import type { PodStatus } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'

/** What the node reports to the API of one of its pods. */
export interface PodReport {
  /** As its source has it. */
  readonly pod: Pod
  readonly status: PodStatus
  /** Something of it may still run: then it is not terminal, even if the status says so. */
  readonly mayRun: boolean
  /** Nothing is left of it but what its readers may want: the API may forget it. */
  readonly isFinished: boolean
}
