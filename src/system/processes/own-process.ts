import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { runQuietly } from './run-quietly.ts'

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

/** Raises the limit of open files. Returns the limit there is then, and what went wrong, if anything. Never fails. */
export async function raiseOpenFiles(
  limit: number,
): Promise<{ readonly limit: number; readonly problem: string | undefined }> {
  try {
    const [soft, hard] = readOpenFileLimits()
    if (Math.min(soft, hard) >= limit) return { limit: soft, problem: undefined }
    const exitCode = await runQuietly('prlimit', [`--pid=${process.pid}`, `--nofile=${limit}:${limit}`])
    if (exitCode === 0) return { limit, problem: undefined }
    const problem = `limits are ${soft} (soft) and ${hard} (hard), raising them to ${limit} was refused`
    return { limit: soft, problem }
  } catch (error) {
    return { limit: LEAST_OPEN_FILES, problem: errorMessage(error) }
  }
}

// What every Linux gives a process.
const LEAST_OPEN_FILES = 1024

function readOpenFileLimits(): readonly [number, number] {
  const text = readFileSync('/proc/self/limits', 'utf8')
  const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(text) ?? []
  const toNumber = (limit = 'unlimited') => (limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit))
  return [toNumber(soft), toNumber(hard)]
}
