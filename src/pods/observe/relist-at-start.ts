import type { Logger } from '../../base/telemetry/logger.ts'
import type { Observer } from './observer.ts'

// With a runtime that is well, a pod is read in milliseconds. Pods whose calls hang are few, and must not hold up the start.
const PATIENCE_MS = 2000

/** Reads what runs before the agent begins. A pod that cannot be read holds up no other: its worker asks again before it does anything. */
export async function relistAtStart(observer: Pick<Observer, 'relist'>, log: Logger): Promise<void> {
  try {
    await observer.relist(PATIENCE_MS)
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error
    log.warn('cannot read some pods of the runtime, going on without', { error })
  }
}
