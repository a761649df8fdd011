import { write } from 'node:fs'
import process from 'node:process'
import { promisify } from 'node:util'
import { runQuietly } from './run-quietly.ts'

const writeTo = promisify(write)
const FIRST_FILE = 3

/** Reports our state to systemd, which started us as a service. Never fails: systemd acts when a report is missing. */
export type NotifySystemd = (message: string) => Promise<void>

/**
 * Node cannot send datagrams to a Unix socket. Where the unit has one opened for us (OpenFile=, from systemd 253 on), a write to it is all that it
 * takes, also on a machine that is too busy to start a program in time; elsewhere systemd's own program sends it.
 */
export function createSystemdNotifier(environment: Readonly<Record<string, string | undefined>>): NotifySystemd {
  const file = findNotifyFile(environment, process.pid)
  return async (message) => {
    if (file !== undefined && (await isWritten(file, message))) return
    await runQuietly('systemd-notify', [`--pid=${process.pid}`, message])
  }
}

/** The file named "notify" among those that systemd has opened for this process. */
export function findNotifyFile(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
): number | undefined {
  if (environment['LISTEN_PID'] !== String(pid)) return undefined
  const at = (environment['LISTEN_FDNAMES'] ?? '').split(':').indexOf('notify')
  return at === -1 || at >= Number(environment['LISTEN_FDS']) ? undefined : FIRST_FILE + at
}

async function isWritten(file: number, message: string): Promise<boolean> {
  try {
    await writeTo(file, message)
    return true
  } catch {
    return false
  }
}

/** How often systemd wants to hear from us; a value that makes no sense stops the start, since it would not be noticed later. */
export function parseWatchdog(environment: Readonly<Record<string, string | undefined>>): number | undefined {
  const text = environment['WATCHDOG_USEC']
  if (text === undefined || text === '') return undefined
  const microseconds = Number(text)
  if (!Number.isInteger(microseconds) || microseconds <= 1_000_000) {
    throw new Error(`Cannot use WATCHDOG_USEC="${text}": expected more than 1000000 microseconds`)
  }
  return microseconds / 1000
}
