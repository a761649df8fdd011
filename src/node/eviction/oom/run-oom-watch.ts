import type { Clock } from '../../../base/async/clock.ts'
import { nextTurn } from '../../../base/async/next-turn.ts'
import { hasCode } from '../../../system/files/error-codes.ts'
import type { KernelLog } from '../../../system/machine/kernel-log.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { NodeEvents } from '../../../model/events/node-events.ts'
import { parseOomKill } from './parse-oom-kill.ts'
import type { OomKill } from './parse-oom-kill.ts'

export interface OomWatchDeps {
  /** Fails where the log may not be read. */
  readonly openLog: () => KernelLog
  /** The agent runs where it may not be read. */
  readonly isExpectedToFail: boolean
  /** A process was killed, perhaps of a pod. */
  readonly onKill: (kill: OomKill) => void
  readonly nodeEvents: NodeEvents
  readonly clock: Clock
  readonly log: Logger
}

const POLL_MS = 2000
// A kernel that says much must not keep all others waiting.
const RECORDS_PER_TURN = 200

// The kernel log is not for this process, whatever it waits for. All else may pass.
const REFUSALS = ['EPERM', 'EACCES', 'ENOENT']

/**
 * Reads from the kernel log which processes were OOM-killed. Kills from before it began are not reported again. Ends where the log may
 * not be read; any other failure is the supervisor's, which begins again.
 */
export async function runOomWatch(deps: OomWatchDeps, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps
  try {
    using kernelLog = deps.openLog()
    await readAll(kernelLog, () => {}, signal)
    for (;;) {
      await clock.sleep(POLL_MS, signal)
      await readAll(kernelLog, (record) => report(deps, record), signal)
    }
  } catch (error) {
    signal.throwIfAborted()
    if (!hasCode(error, ...REFUSALS)) throw error
    const message = 'cannot read the kernel log: processes that the kernel kills for want of memory are not reported'
    if (deps.isExpectedToFail) log.info(`${message} in a user namespace`, { error })
    else log.warn(message, { error })
  }
}

async function readAll(kernelLog: KernelLog, take: (record: string) => void, signal: AbortSignal): Promise<void> {
  for (let count = 1; ; count += 1) {
    const record = kernelLog.next()
    if (record === undefined) return
    take(record)
    if (count % RECORDS_PER_TURN !== 0) continue
    await nextTurn()
    signal.throwIfAborted()
  }
}

function report({ onKill, nodeEvents, log }: OomWatchDeps, record: string): void {
  const kill = parseOomKill(record)
  if (kill === undefined) return
  log.warn('kernel killed a process for want of memory', { ...kill })
  if (kill.isSystem) {
    const message = `System OOM encountered, victim process: ${kill.process}, pid: ${kill.pid}`
    nodeEvents.record({ type: 'Warning', reason: 'SystemOOM', message })
  }
  onKill(kill)
}
