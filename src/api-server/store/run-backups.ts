import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { ApiStore } from './api-store.ts'

// Soon after the start, since that is when something may have been repaired, and then every hour.
const FIRST_MS = 60_000
const EVERY_MS = 3_600_000

/** Keeps a copy of the database next to it, until the signal aborts. */
export async function runBackups(
  { store, clock, log }: { readonly store: ApiStore; readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  let copied: number | undefined
  for (let wait = FIRST_MS; ; wait = EVERY_MS) {
    await clock.sleep(wait, signal)
    const { version } = store
    if (version === copied) continue
    try {
      await store.backUp()
      copied = version
    } catch (error) {
      log.error('cannot back up the objects of the API, will try again', { error })
    }
  }
}
