import { readFileSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
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

/** Reports our state to systemd, which started us as a service. */
export async function notifySystemd(message: string): Promise<void> {
  await runQuietly('systemd-notify', [`--pid=${process.pid}`, message])
}

/** The exit code; 127 when there is no such program, 1 when a signal ended it. */
async function runQuietly(program: string, args: readonly string[]): Promise<number> {
  const child = spawn(program, [...args], { stdio: 'ignore' })
  return await new Promise((resolve) => {
    child.once('error', () => resolve(127))
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
