import type { Clock } from '../../../base/async/clock.ts'
import { expired, invalid, versionTooLarge } from '../../api-error.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ApiError } from '../../api-error.ts'
import type { ApiObject, StoreEvent } from '../../store/api-object.ts'
import type { ApiStore } from '../../store/api-store.ts'
import { CompactedError } from '../../store/store-errors.ts'
import { atVersion } from '../../store/transaction.ts'
import { isSelected, readVersion } from './list-objects.ts'
import type { ListSelection } from './list-objects.ts'
import { apiVersionOf, presentText, toPartial, toTable } from '../present.ts'
import type { Presentation } from '../present.ts'
import { isTrue, readNumber } from '../request-info.ts'
import { WatchSignal } from './watch-signal.ts'
import { formatExactJson } from '../../../base/document/exact-json.ts'

export interface WatchDeps {
  readonly store: ApiStore
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
}

/** What a watch starts with and when it ends. */
interface WatchPlan {
  /** Everything there is comes first, as if it had just been added. */
  readonly sendsPresent: boolean
  /** Changes after this version follow; undefined: after what is sent first. */
  readonly from: number | undefined
  readonly hasBookmarks: boolean
  /** A bookmark marks the end of the objects that existed at the start. */
  readonly marksPresent: boolean
  readonly timeoutMs: number
}

const EVENTS_AT_ONCE = 100
const BOOKMARK_MS = 60_000
// A watch without a time of its own ends after one to two times this, so that not all end at once.
const SHORTEST_DEFAULT_MS = 30 * 60_000
const LONGEST_MS = 24 * 3_600_000

/** Reads what kind of watch is asked for. Throws an ApiError for what cannot be. */
export function planWatch({ store, random }: WatchDeps, query: URLSearchParams): WatchPlan {
  const version = readVersion(query)
  const initial = query.get('sendInitialEvents')
  const hasBookmarks = isTrue(query.get('allowWatchBookmarks'))
  checkInitialEvents(query, initial)
  const seconds = readNumber(query, 'timeoutSeconds') || undefined
  const timeoutMs = seconds === undefined ? SHORTEST_DEFAULT_MS * (1 + random()) : Math.min(seconds * 1000, LONGEST_MS)
  if (version !== undefined && version > store.version) throw versionTooLarge(version, store.version)
  const sendsPresent = initial === null ? version === undefined || version === 0 : isTrue(initial)
  const from = sendsPresent ? undefined : version === undefined || version === 0 ? store.version : version
  return {
    sendsPresent,
    from,
    hasBookmarks,
    marksPresent: hasBookmarks && initial !== null && isTrue(initial),
    timeoutMs,
  }
}

function checkInitialEvents(query: URLSearchParams, initial: string | null): void {
  const match = query.get('resourceVersionMatch')
  const problems = new ProblemList()
  if (initial === null && match) {
    problems.forbidden(
      FieldPath.root.child('resourceVersionMatch'),
      'a watch has it only together with sendInitialEvents',
    )
  }
  if (initial !== null && match !== 'NotOlderThan') {
    const path = FieldPath.root.child('resourceVersionMatch')
    problems.forbidden(path, 'sendInitialEvents needs it to be NotOlderThan')
    if (match) problems.unsupported(path, match, ['NotOlderThan'])
  }
  if (query.get('continue')) problems.forbidden(FieldPath.root.child('continue'), 'a watch has no pages')
  if (problems.violations.length === 0) return
  throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, problems.violations)
}

/**
 * The frames of a watch, until its time is over or the signal aborts. Nothing queues up for a slow reader: the next changes are read
 * when it has taken the last ones, and if they are forgotten by then the watch ends with 410, so that the client lists again.
 */
export async function* watchObjects(
  deps: WatchDeps,
  selection: ListSelection,
  request: { readonly plan: WatchPlan; readonly how: Omit<Presentation, 'now'> },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const frames = new Frames(selection, request.how, deps.clock)
  const { store, clock } = deps
  const { plan } = request
  const endsAt = clock.monotonic() + plan.timeoutMs
  await using wakeup = new WatchSignal(clock, { everyMs: BOOKMARK_MS, endsAt }, signal)
  const stop = store.onChange(selection.resource.storage, () => wakeup.wake())
  try {
    let version = store.version
    if (plan.sendsPresent) {
      yield* presentFrames(store, selection, frames, version)
      if (plan.marksPresent) yield frames.bookmark(version, true)
    } else version = plan.from ?? version
    while (!signal.aborted) {
      const events = store.eventsAfter(selection.resource.storage, version, EVENTS_AT_ONCE, selection.fields?.word)
      version = events.length < EVENTS_AT_ONCE ? Math.max(version, store.version) : (events.at(-1)?.version ?? version)
      const text = events.map((event) => frames.event(event)).join('')
      if (text !== '') yield text
      if (events.length === EVENTS_AT_ONCE) continue
      // A watch that is over always says how far it came, however busy it was: the next one begins there.
      const isExpired = clock.monotonic() >= endsAt
      if ((wakeup.takeTick() || isExpired) && plan.hasBookmarks) yield frames.bookmark(version, false)
      if (isExpired) return
      await wakeup.wait()
    }
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error
    yield frames.error(expired(`too old resource version: ${error.version} (${error.oldest})`))
  } finally {
    stop()
  }
}

/** What is there now, in parts, so that no large list stands in memory at once. */
function* presentFrames(store: ApiStore, selection: ListSelection, frames: Frames, version: number): Generator<string> {
  const { resource, namespace } = selection
  let after: { readonly namespace: string; readonly name: string } | undefined
  for (;;) {
    const scope = { resource: resource.storage, namespace, containing: selection.fields?.word }
    const part = store.list({ ...scope, version, after, limit: EVENTS_AT_ONCE })
    const chosen = part.filter(({ object }) => isSelected(selection, object))
    const text = chosen.map((stored) => frames.frame('ADDED', stored)).join('')
    if (text !== '') yield text
    if (part.length < EVENTS_AT_ONCE) return
    after = part.at(-1)?.key
  }
}

/** Turns changes into the frames of one watch. */
class Frames {
  readonly #selection: ListSelection
  readonly #how: Omit<Presentation, 'now'>
  readonly #clock: Clock
  #hasColumns = false

  constructor(selection: ListSelection, how: Omit<Presentation, 'now'>, clock: Clock) {
    this.#selection = selection
    this.#how = how
    this.#clock = clock
  }

  /** Empty for what is not selected. What leaves the selection is deleted for this watch, what enters it is added. */
  event(event: StoreEvent): string {
    const { namespace } = this.#selection
    if (namespace !== undefined && event.key.namespace !== namespace) return ''
    const isIn = event.type !== 'DELETED' && isSelected(this.#selection, event.object)
    const wasIn = event.previous !== undefined && isSelected(this.#selection, event.previous)
    if (isIn) return this.frame(wasIn ? 'MODIFIED' : 'ADDED', event)
    if (!wasIn) return ''
    if (event.type === 'DELETED') return this.frame('DELETED', event)
    const object = atVersion(event.previous ?? event.object, event.version)
    return this.frame('DELETED', { object, text: formatExactJson(object) })
  }

  frame(type: string, stored: { readonly object: ApiObject; readonly text: string }): string {
    const how = { ...this.#how, now: this.#clock.now() }
    if (how.form !== 'Table') return `{"type":"${type}","object":${presentText(how, stored)}}\n`
    const metadata = { resourceVersion: stored.object.metadata.resourceVersion }
    const table = toTable(how, [stored.object], metadata, !this.#hasColumns)
    this.#hasColumns = true
    return `${formatExactJson({ type, object: table })}\n`
  }

  bookmark(version: number, marksPresent: boolean): string {
    const { resource } = this.#selection
    const annotations = marksPresent ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
    const metadata = { resourceVersion: String(version), creationTimestamp: null, ...annotations }
    const object =
      this.#how.form === 'Table'
        ? toTable({ ...this.#how, now: 0 }, [], metadata, false)
        : this.#how.form === 'PartialObjectMetadata'
          ? toPartial({ metadata })
          : { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata }
    return `${formatExactJson({ type: 'BOOKMARK', object })}\n`
  }

  error(error: ApiError): string {
    return `${formatExactJson({ type: 'ERROR', object: error.status })}\n`
  }
}
