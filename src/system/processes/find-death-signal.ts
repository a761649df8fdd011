import type { Clock } from '../../base/async/clock.ts'
import { runProcess } from './run-process.ts'

// Of util-linux 2.33 or later; busybox has a setpriv that cannot do it.
const SETPRIV = ['setpriv', '--pdeathsig', 'KILL']
const DEADLINE_MS = 2000

/**
 * Put in front of a program, it makes the kernel kill that program when this process dies, however it dies. Nothing where the machine cannot
 * do that: then a child which hangs at that moment stays until its file system answers.
 */
export async function findDeathSignal(clock: Clock, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const { exitCode } = await runProcess(clock, { argv: [...SETPRIV, 'true'], deadlineMs: DEADLINE_MS }, signal)
    return exitCode === 0 ? SETPRIV : []
  } catch {
    signal.throwIfAborted()
    return []
  }
}
