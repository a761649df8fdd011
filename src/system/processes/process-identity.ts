import { readFile } from 'node:fs/promises'

/** Which process exactly: a pid alone may name another process later, and after a reboot all of them do. */
export interface ProcessIdentity {
  readonly pid: number
  /** Start time in clock ticks since boot. */
  readonly startTicks: number
  readonly bootId: string
}

/** The fields of /proc/<pid>/stat that we use. */
export interface ProcessStat {
  readonly state: string
  readonly parentPid: number
  /** User and system time of the process and of its children that were waited for, in clock ticks. */
  readonly cpuTicks: number
  readonly startTicks: number
}

/** Reads one line of /proc/<pid>/stat; the name in parentheses may itself hold spaces and parentheses. */
export function parseProcessStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (index: number) => Number(fields[index])
  // proc(5) counts from 1 and from before the name: its field n is our field n - 3.
  const stat = {
    state: fields[0] ?? '',
    parentPid: number(1),
    cpuTicks: number(11) + number(12) + number(13) + number(14),
    startTicks: number(19),
  }
  if (!Number.isSafeInteger(stat.startTicks)) throw new Error(`Cannot read "${text}" as /proc/<pid>/stat: too short`)
  return stat
}

/** The identity of a running process; undefined when there is none with this pid. */
export async function readProcessIdentity(pid: number): Promise<ProcessIdentity | undefined> {
  const stat = await readProcessStat(pid)
  if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined
  const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
  return { pid, startTicks: stat.startTicks, bootId }
}

/** Undefined when there is no such process. */
export async function readProcessStat(pid: number): Promise<ProcessStat | undefined> {
  try {
    return parseProcessStat(await readFile(`/proc/${pid}/stat`, 'utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}

/** True while exactly this process runs. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const present = await readProcessIdentity(identity.pid)
  return present?.startTicks === identity.startTicks && present.bootId === identity.bootId
}

/** Sends a signal to exactly this process; false when it is gone. */
export async function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<boolean> {
  if (!(await isRunning(identity))) return false
  try {
    return process.kill(identity.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}
