/** A process that the kernel killed for want of memory. */
export interface OomKill {
  readonly process: string
  readonly pid: number
  /** The cgroup of the process. */
  readonly cgroup: string
  /** The machine was out of memory, and not only a cgroup. */
  readonly isSystem: boolean
}

// Priority, number, time and flags come before the text; the kernel's own lines have a priority below 8, since programs may write too.
const RECORD = /^[0-7],[^;]*;oom-kill:(.*)$/m
// Names of processes may hold anything, so they are found from the end.
const VICTIM = /,task_memcg=(.*?),task=(.*),pid=(\d+),uid=\d+$/
const LIMITED = /,oom_memcg=(.*?),task_memcg=/

/** A record of the kernel's log; undefined for all that is something else. */
export function parseOomKill(record: string): OomKill | undefined {
  const [, text] = RECORD.exec(record) ?? []
  const [, cgroup, process, pid] = VICTIM.exec(text ?? '') ?? []
  if (text === undefined || cgroup === undefined || process === undefined) return undefined
  const limited = LIMITED.exec(text)?.[1] ?? '/'
  return { process, pid: Number(pid), cgroup, isSystem: limited === '/' }
}
