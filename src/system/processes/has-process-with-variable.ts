import { readdir, readFile, readlink } from 'node:fs/promises'

/**
 * Whether a process of our own mount namespace was started with this variable, such as "NAME=value". Those of pods are elsewhere, and not read: their memory may be of a
 * file system that never answers.
 */
export async function hasProcessWithVariable(variable: string): Promise<boolean> {
  const namespace = await readlink('/proc/self/ns/mnt')
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    // Processes end while we read.
    if ((await readlink(`/proc/${pid}/ns/mnt`).catch(() => '')) !== namespace) continue
    const text = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
    if (`\0${text}\0`.includes(`\0${variable}\0`)) return true
  }
  return false
}
