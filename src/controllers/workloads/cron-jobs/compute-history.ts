import type { CronJob, Job } from '../../../model/generated/api-groups.ts'
import type { Live } from '../../engine/live-object.ts'

/** How a Job has ended; undefined while it has not. */
export function endOfJob({ status }: Live<Job>): 'Complete' | 'Failed' | undefined {
  const found = status?.conditions?.find(
    (each) => (each.type === 'Complete' || each.type === 'Failed') && each.status === 'True',
  )
  return found?.type as 'Complete' | 'Failed' | undefined
}

/** The finished Jobs that are beyond what is kept, the oldest first. */
export function computeExpiredJobs({ spec }: Live<CronJob>, jobs: readonly Live<Job>[]): readonly Live<Job>[] {
  const limits = { Complete: spec.successfulJobsHistoryLimit ?? 3, Failed: spec.failedJobsHistoryLimit ?? 1 }
  return (['Complete', 'Failed'] as const).flatMap((end) => {
    const ended = jobs.filter((job) => endOfJob(job) === end).toSorted(compareStarts)
    return ended.slice(0, Math.max(0, ended.length - limits[end]))
  })
}

/** Those that began first come first; one that never began comes last. */
function compareStarts(a: Live<Job>, b: Live<Job>): number {
  const [first, second] = [a.status?.startTime ?? '~', b.status?.startTime ?? '~']
  return first === second ? (a.metadata.name < b.metadata.name ? -1 : 1) : first < second ? -1 : 1
}
