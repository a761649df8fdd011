import { readFile } from 'node:fs/promises'
import { readProcessStat } from '../../src/system/processes/process-identity.ts'

const keepAll = (_name: string) => false

// What user space sees on every Linux, whatever the kernel's own tick is.
const TICKS_PER_SECOND = 100

/** CPU time of a process, of all that it started and still runs, and of those of them that ended. */
export async function cpuSeconds(pid: number, isLeftOut = keepAll): Promise<number> {
  const stats = await Promise.all((await processTree(pid, isLeftOut)).map((member) => readProcessStat(member)))
  return stats.reduce((sum, stat) => sum + (stat?.cpuTicks ?? 0), 0) / TICKS_PER_SECOND
}

export interface MemoryUse {
  /** Shared pages counted in parts. */
  readonly pssMegabytes: number
  readonly anonymousMegabytes: number
}

/** Memory of a process and of all that it started. */
export async function memoryUse(pid: number, isLeftOut = keepAll): Promise<MemoryUse> {
  let [pss, anonymous] = [0, 0]
  for (const member of await processTree(pid, isLeftOut)) {
    const rollup = await readFile(`/proc/${member}/smaps_rollup`, 'utf8').catch(() => '')
    pss += readKilobytes(rollup, 'Pss')
    anonymous += readKilobytes(rollup, 'Anonymous')
  }
  return { pssMegabytes: pss / 1000, anonymousMegabytes: anonymous / 1000 }
}

function readKilobytes(rollup: string, field: string): number {
  // The kernel's kB are 1024 bytes; megabytes in the table are of 1000 × 1000.
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(rollup)?.[1] ?? 0) * 1.024
}

/** Those whose name is left out go with all that they started. */
async function processTree(pid: number, isLeftOut: (name: string) => boolean): Promise<readonly number[]> {
  if (isLeftOut((await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim())) return []
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  const below = await Promise.all(
    children
      .split(' ')
      .filter(Boolean)
      .map((child) => processTree(Number(child), isLeftOut)),
  )
  return [pid, ...below.flat()]
}
