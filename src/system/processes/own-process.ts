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
    const problem = `limits are ${soft} (soft) and ${hard} (hard), raising them to ${limit} was refused`
    // A child process for nothing would be in the way of the start.
    if (hard < limit && !mayRaiseLimits()) return { limit: soft, problem }
    const exitCode = await runQuietly('prlimit', [`--pid=${process.pid}`, `--nofile=${limit}:${limit}`])
    return exitCode === 0 ? { limit, problem: undefined } : { limit: soft, problem }
  } catch (error) {
    return { limit: LEAST_OPEN_FILES, problem: errorMessage(error) }
  }
}

// What every Linux gives a process.
const LEAST_OPEN_FILES = 1024

// CAP_SYS_RESOURCE.
const RAISE_LIMITS = 1n << 24n

function mayRaiseLimits(): boolean {
  const [, capabilities = 'f'.repeat(16)] =
    /^CapEff:\s+([\da-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return (BigInt(`0x${capabilities}`) & RAISE_LIMITS) !== 0n
}

function readOpenFileLimits(): readonly [number, number] {
  const text = readFileSync('/proc/self/limits', 'utf8')
  const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(text) ?? []
  const toNumber = (limit = 'unlimited') => (limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit))
  return [toNumber(soft), toNumber(hard)]
}

const PAGE_BYTES = 4096

/** Memory of this process that is no file: what collecting garbage and trimming can change. */
export function readAnonymousMemory(): number {
  const [, resident = 0, ofFiles = 0] = readFileSync('/proc/self/statm', 'latin1').split(' ').map(Number)
  return (resident - ofFiles) * PAGE_BYTES
}
