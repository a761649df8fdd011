import { ftruncateSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { errorMessage } from '../../base/telemetry/error-text.ts'

/** Names the process as `ps -C` sees it. The arguments stay as they were, unlike with process.title. */
export function nameProcess(name: string): void {
  try {
    writeFileSync('/proc/self/comm', name)
  } catch {
    // Only a convenience for people who search for the process.
  }
}

/** Asks the kernel to spare this process when memory runs out. Returns what went wrong, if anything. */
export function setOomScoreAdj(value: number): string | undefined {
  try {
    writeFileSync('/proc/self/oom_score_adj', String(value))
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}

/** Raises the limit of open files. Returns what went wrong, if anything. */
export async function raiseOpenFiles(limit: number): Promise<string | undefined> {
  const [, soft = 'unlimited', hard = 'unlimited'] =
    /^Max open files\s+(\S+)\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  const enough = (text: string) => text === 'unlimited' || Number(text) >= limit
  if (enough(soft) && enough(hard)) return undefined
  const exitCode = await runQuietly('prlimit', [`--pid=${process.pid}`, `--nofile=${limit}:${limit}`])
  return exitCode === 0
    ? undefined
    : `limits are ${soft} (soft) and ${hard} (hard), raising them to ${limit} was refused`
}

/**
 * Takes an exclusive lock on a file and waits for it as long as another holds it. The lock belongs to our descriptor, so it lasts as
 * long as this process; the program only does the system call that Node lacks.
 */
export async function lockFile(path: string): Promise<void> {
  const descriptor = openSync(path, 'a', 0o600)
  // Changes its time: so who holds the lock sees that we want it, see waitForLockContention().
  ftruncateSync(descriptor, 0)
  const exitCode = await runQuietly('flock', ['--exclusive', '3'], descriptor)
  if (exitCode !== 0) throw new Error(`Cannot lock "${path}": flock ended with ${exitCode}`)
}

/** Resolves when another process waits for the lock of this file, or removes the file. */
export async function waitForLockContention(
  options: { readonly path: string; readonly sleep: (ms: number, signal: AbortSignal) => Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  const { ino, mtimeNs } = statSync(options.path, { bigint: true })
  // Node has no event for "the file was opened", but a process that waits for a lock is in the kernel's list of locks. In a pid namespace
  // the list leaves out ours, because the program that took it is gone: there only another of our agents is seen, by the file's time.
  const waiting = new RegExp(`-> FLOCK .*:${ino} `)
  for (;;) {
    const now = statSync(options.path, { bigint: true, throwIfNoEntry: false })
    if (now?.mtimeNs !== mtimeNs || waiting.test(readFileSync('/proc/locks', 'utf8'))) return
    await options.sleep(LOCK_CHECK_MS, signal)
  }
}

const LOCK_CHECK_MS = 1000

/** Reports our state to systemd, which started us as a service. */
export async function notifySystemd(message: string): Promise<void> {
  await runQuietly('systemd-notify', [`--pid=${process.pid}`, message])
}

async function runQuietly(program: string, args: readonly string[], descriptor?: number): Promise<number> {
  const child = spawn(program, [...args], {
    stdio: ['ignore', 'ignore', 'ignore', ...(descriptor === undefined ? [] : [descriptor])],
  })
  const ended = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : 1))
  return await Promise.race([ended, once(child, 'error').then(() => 127)])
}
