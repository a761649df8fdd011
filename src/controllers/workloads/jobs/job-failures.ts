import type { Job } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { endedAt, isTracked, sortJobPods } from './job-pods.ts'

/** When the pods of Jobs failed, also of those that are gone since; the wait before the next try depends on it. Only in memory, as upstream. */
export class JobFailures {
  readonly #jobs = new Map<string, { readonly failures: Map<string, number>; succeededAt: number }>()

  /** Takes note of the pods as they are; gives when those ended that failed since the last success. */
  observe(job: Live<Job>, pods: readonly Live<Pod>[]): readonly number[] {
    const known = this.#jobs.get(job.metadata.uid) ?? { failures: new Map<string, number>(), succeededAt: 0 }
    this.#jobs.set(job.metadata.uid, known)
    const { succeeded, failed } = sortJobPods(job, pods)
    for (const pod of succeeded) known.succeededAt = Math.max(known.succeededAt, endedAt(pod))
    // One without its finalizer was counted before, or is given up without being counted.
    for (const pod of failed.filter(isTracked))
      if (!known.failures.has(pod.metadata.uid)) known.failures.set(pod.metadata.uid, endedAt(pod))
    return [...known.failures.values()].filter((time) => time > known.succeededAt)
  }

  forget(uid: string): void {
    this.#jobs.delete(uid)
  }
}
