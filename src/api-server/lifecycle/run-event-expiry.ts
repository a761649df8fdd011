import type { Clock } from '../../base/async/clock.ts'
import type { Event } from '../../model/generated/core-v1.ts'
import { createObjectReader } from '../kinds/object-reader.ts'
import type { ObjectOf } from '../store/api-object.ts'
import type { ApiStore } from '../store/api-store.ts'

const CHECK_MS = 60_000
const LIFETIME_MS = 3_600_000
// A larger crowd goes in several transactions, so that others get between.
const REMOVED_AT_ONCE = 100

/** Removes events an hour after they last happened, until the signal aborts. */
export async function runEventExpiry(
  deps: { readonly store: ApiStore; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await removeExpiredEvents(deps)
    await deps.clock.sleep(CHECK_MS, signal)
  }
}

async function removeExpiredEvents({ store, clock }: { store: ApiStore; clock: Clock }): Promise<void> {
  const expired = createObjectReader(store)
    .list('events')
    .filter((event) => lastTimeOf(event, clock.now()) + LIFETIME_MS <= clock.now())
    .map(({ metadata: { namespace = '', name = '' } }) => ({ resource: 'events', namespace, name }))
  for (let start = 0; start < expired.length; start += REMOVED_AT_ONCE) {
    await store.write((transaction) => {
      for (const key of expired.slice(start, start + REMOVED_AT_ONCE)) transaction.remove(key)
    })
  }
}

/** When an event was made or last repeated, whichever is later; a time that is yet to come does not count. */
function lastTimeOf({ metadata, lastTimestamp, eventTime, series }: ObjectOf<Event>, now: number): number {
  const times = [metadata.creationTimestamp, lastTimestamp, eventTime, series?.lastObservedTime]
  return Math.max(0, ...times.map((time) => Date.parse(time ?? '')).filter((time) => time <= now))
}
