import { readdir, readFile, readlink } from 'node:fs/promises'
import { readProcessIdentity } from './process-identity.ts'
import type { ProcessIdentity } from './process-identity.ts'

/**
 * The process whose command line ends with these arguments, in our own mount namespace: the same paths elsewhere are other files. The oldest of
 * several, since one that a program is just forking off still has its command line.
 */
export async function findProcessByCommand(command: readonly string[]): Promise<ProcessIdentity | undefined> {
  const end = `\0${command.join('\0')}\0`
  const namespace = await readlink('/proc/self/ns/mnt')
  let oldest: ProcessIdentity | undefined
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    // Processes end while we read.
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (!`\0${text}`.endsWith(end)) continue
    if ((await readlink(`/proc/${pid}/ns/mnt`).catch(() => '')) !== namespace) continue
    const identity = await readProcessIdentity(Number(pid))
    if (identity !== undefined && (oldest === undefined || identity.startTicks < oldest.startTicks)) oldest = identity
  }
  return oldest
}
