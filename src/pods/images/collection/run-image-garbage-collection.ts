import type { Clock } from '../../../base/async/clock.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { NodeEvents } from '../../../model/events/node-events.ts'
import type { Tracer } from '../../../base/telemetry/tracer.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { isCollecting } from './compute-image-garbage.ts'
import type { GarbagePolicy } from './compute-image-garbage.ts'
import type { ImageCollector } from './image-collector.ts'

export interface ImageGarbageDeps {
  readonly collector: Pick<ImageCollector, 'observe' | 'collect'>
  readonly policy: GarbagePolicy
  readonly events: NodeEvents
  readonly tracer: Tracer
  readonly clock: Clock
  readonly log: Logger
}

const INTERVAL_MS = 300_000

/** Collects images every five minutes until the signal aborts. Where none is ever to go by itself, it only observes: a node may run short. */
export async function runImageGarbageCollection(deps: ImageGarbageDeps, signal: AbortSignal): Promise<void> {
  const { collector, policy, events, tracer, clock, log } = deps
  let failures = 0
  for (let pass = 0; ; pass += 1) {
    try {
      // What is there at the start is seen then, and no younger than the agent.
      await (pass === 0 || !isCollecting(policy)
        ? collector.observe(signal)
        : tracer.span('Images/GarbageCollect', {}, () => collector.collect(signal)))
      failures = 0
    } catch (error) {
      signal.throwIfAborted()
      failures += 1
      log.warn('cannot collect images', { error })
      // Once may be a runtime that just starts; twice in a row is reported.
      if (failures > 1)
        events.record({
          type: 'Warning',
          reason: 'ImageGCFailed',
          message: errorMessage(error),
        })
    }
    await clock.sleep(INTERVAL_MS, signal)
  }
}
