import { readKernelFile } from '../cgroups/cgroup-reader.ts'

/** How many processes and threads the kernel allows at a time; undefined when it does not say. */
export function readTaskLimit(proc = '/proc'): number | undefined {
  const limits = ['pid_max', 'threads-max'].flatMap((name) => {
    const value = Number(readKernelFile(`${proc}/sys/kernel/${name}`)?.trim())
    return Number.isInteger(value) && value > 0 ? [value] : []
  })
  return limits.length === 0 ? undefined : Math.min(...limits)
}
