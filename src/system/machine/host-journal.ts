import type { Writable } from 'node:stream'
import type { Clock } from '../../base/async/clock.ts'
import { ProcessError, runProcess } from '../processes/run-process.ts'
import { streamProcess } from '../processes/stream-process.ts'

const DEADLINE_MS = 30_000
const MAX_UNITS_BYTES = 1024 * 1024

/** The journal of this machine, by the program that reads it. */
export function createHostJournal({
  clock,
  program = ['journalctl'],
}: {
  readonly clock: Clock
  readonly program?: readonly string[]
}) {
  return {
    /** The units that have written something; undefined where there is no journal. */
    async units(signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
      try {
        const request = {
          argv: [...program, '--field', '_SYSTEMD_UNIT'],
          deadlineMs: DEADLINE_MS,
          maxOutputBytes: MAX_UNITS_BYTES,
        }
        const { exitCode, stdout } = await runProcess(clock, request, signal)
        return exitCode === 0 ? new Set(stdout.split('\n')) : undefined
      } catch (error) {
        if (error instanceof ProcessError) return undefined
        throw error
      }
    },
    /** Writes the lines that the arguments ask for; gives what went wrong. */
    async write(args: readonly string[], sink: Writable, signal: AbortSignal): Promise<string | undefined> {
      const request = { argv: [...program, ...args], deadlineMs: DEADLINE_MS, sink }
      const { exitCode, stderr } = await streamProcess(clock, request, signal)
      return exitCode === 0 ? undefined : `journalctl: ${stderr.trim() || `exit code ${exitCode}`}`
    },
  }
}
