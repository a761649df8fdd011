import type { Clock } from '../../base/async/clock.ts'
import { findProcessByCommand } from '../../system/processes/find-process-by-command.ts'
import { isRunning, readProcessIdentity, signalProcess } from '../../system/processes/process-identity.ts'
import type { ProcessIdentity } from '../../system/processes/process-identity.ts'
import { readTextIfPresent, removeTree } from '../../system/files/files-and-folders.ts'
import { writeFileDurably } from '../../system/files/state/durable-file.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

const POLL_MS = 10

/** The process runs, but the disk did not take the file that would name it. */
export class UnnotedError extends Error {
  override readonly name = 'UnnotedError'
}

/** How a later command finds a process: by a file, and where a full disk did not take it by the end of its command line. */
export interface KnownProcess {
  readonly file: string
  readonly command?: readonly string[]
}

/** Remembers a process in a file; the log is where it would say why it is gone already. */
export async function rememberProcess(file: string, pid: number, log: string): Promise<ProcessIdentity> {
  const identity = await readProcessIdentity(pid)
  if (identity === undefined) throw new Error(`Cannot start process ${pid}: it ended at once, see "${log}"`)
  try {
    await writeFileDurably(file, `${JSON.stringify(identity)}\n`)
  } catch (cause) {
    throw new UnnotedError(`Cannot note process ${pid} in "${file}": ${errorMessage(cause)}`, { cause })
  }
  return identity
}

/** The process of the file while exactly that one still runs; never another one that got its pid. */
export async function findProcess({ file, command }: KnownProcess): Promise<ProcessIdentity | undefined> {
  const noted = await findNoted(file)
  return noted ?? (command === undefined ? undefined : await findProcessByCommand(command))
}

/** The process that runs and that the file names. */
export async function findNoted(file: string): Promise<ProcessIdentity | undefined> {
  const text = await readTextIfPresent(file)
  const identity = text === undefined ? undefined : parseIdentity(text)
  return identity !== undefined && (await isRunning(identity)) ? identity : undefined
}

/** Asks the process to leave, and after the grace makes it; true when there was one. */
export async function stopProcess(
  clock: Clock,
  options: KnownProcess & { readonly graceMs: number },
  signal: AbortSignal,
): Promise<boolean> {
  const identity = await findProcess(options)
  if (identity !== undefined) {
    await signalProcess(identity, 'SIGTERM')
    if (!(await waitForEnd(clock, identity, options.graceMs, signal))) {
      await signalProcess(identity, 'SIGKILL')
      // The kernel is never long about this; one stuck in a system call must not hold us.
      await waitForEnd(clock, identity, 5000, signal)
    }
  }
  await removeTree(options.file)
  return identity !== undefined
}

/** A damaged file is like none: what it named is then found by its socket or not at all. */
export function parseIdentity(text: string): ProcessIdentity | undefined {
  try {
    const { pid, startTicks, bootId } = JSON.parse(text) as Partial<Record<string, unknown>>
    if (!Number.isSafeInteger(pid) || !Number.isSafeInteger(startTicks) || typeof bootId !== 'string') return undefined
    return { pid: pid as number, startTicks: startTicks as number, bootId }
  } catch {
    return undefined
  }
}

async function waitForEnd(clock: Clock, identity: ProcessIdentity, ms: number, signal: AbortSignal): Promise<boolean> {
  const end = clock.monotonic() + ms
  while (await isRunning(identity)) {
    if (clock.monotonic() >= end) return false
    await clock.sleep(POLL_MS, signal)
  }
  return true
}
