import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { BackOff } from '../../base/async/back-off.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { CriCallError } from './cri-call-error.ts'
import { CONTAINERD_FILTERS, hintFromContainerd, hintFromCri } from './to-runtime-hint.ts'
import type { CriClient } from './cri-client.ts'
import type { RuntimeHint } from './to-runtime-hint.ts'

/** Whether a stream is open. Events are lost while none is, so `streaming` after `none` is a reason to relist once. */
type RuntimeEventsState = 'streaming' | 'none'

/** What runRuntimeEvents() needs. */
export interface RuntimeEventsDeps {
  readonly client: Pick<CriClient, 'getContainerEvents' | 'containerdEvents'>
  readonly clock: Clock
  readonly log: Logger
  readonly onHint: (hint: RuntimeHint) => void
  /** Called at each change; the state before the first call is `none`. */
  readonly onState: (state: RuntimeEventsState) => void
  /** A stream was opened, or broke, or could not be opened. */
  readonly onStream?: (failed: boolean) => void
  /** An event came that happened then, in milliseconds since the epoch. */
  readonly onEvent?: (happenedAt: number) => void
}

type Source = 'cri' | 'containerd'

const RETRIES = { firstMs: 100, longestMs: 3000 }
// A runtime without any stream may be replaced by a newer one while we run.
const ABSENT_BACKOFF_MS = 300_000
// A server sends nothing at all before its first event. A refusal comes at once, so silence means that the stream stands.
const SETTLE_MS = 500

/**
 * Listens to the runtime until the signal aborts and passes on what may have changed: CRI's own events, or else those of containerd.
 * Broken streams are opened again. Hints may be lost or doubled; the relist is what is relied upon.
 */
export async function runRuntimeEvents(deps: RuntimeEventsDeps, signal: AbortSignal): Promise<void> {
  const report = createReporter(deps)
  let source: Source = 'cri'
  const backOff = new BackOff(RETRIES)
  while (!signal.aborted) {
    const opened = source
    const end = await listen(deps, opened, () => report(opened), signal)
    if (signal.aborted) break
    if (end.absent && source === 'cri') {
      source = 'containerd'
      continue
    }
    report('none', end.error)
    if (end.streamed) backOff.reset()
    const waitMs = backOff.next()
    await deps.clock.sleep(end.absent ? ABSENT_BACKOFF_MS : waitMs, signal).catch(() => {})
    source = 'cri'
  }
}

interface StreamEnd {
  /** The runtime does not have this stream. */
  readonly absent: boolean
  /** The stream stood before it ended. */
  readonly streamed: boolean
  readonly error?: Error
}

async function listen(
  deps: RuntimeEventsDeps,
  source: Source,
  onStreaming: () => void,
  signal: AbortSignal,
): Promise<StreamEnd> {
  using scope = new AbortScope(signal)
  let streamed = false
  const settle = () => {
    if (streamed) return
    streamed = true
    deps.onStream?.(false)
    onStreaming()
  }
  deps.clock.sleep(SETTLE_MS, scope.signal).then(settle, () => {})
  try {
    for await (const hint of openHints(deps, source, scope.signal)) {
      settle()
      if (hint !== undefined) deps.onHint(hint)
    }
    return { absent: false, streamed }
  } catch (error) {
    if (!(error instanceof CriCallError)) {
      if (signal.aborted) return { absent: false, streamed }
      throw error
    }
    const absent = error.code === 'Unimplemented'
    if (!absent) deps.onStream?.(true)
    return { absent, streamed, error }
  }
}

async function* openHints(
  { client, onEvent }: RuntimeEventsDeps,
  source: Source,
  signal: AbortSignal,
): AsyncGenerator<RuntimeHint | undefined, void> {
  if (source === 'cri') {
    for await (const event of client.getContainerEvents({}, signal)) {
      onEvent?.(Number(event.createdAt / 1_000_000n))
      yield hintFromCri(event)
    }
  } else {
    for await (const envelope of client.containerdEvents(CONTAINERD_FILTERS, signal)) {
      const { timestamp } = envelope
      if (timestamp !== undefined) onEvent?.(Number(timestamp.seconds) * 1000 + timestamp.nanos / 1e6)
      yield hintFromContainerd(envelope)
    }
  }
}

/** Reports each change of state once, to the caller and to the log. */
function createReporter({ log, onState }: RuntimeEventsDeps): (next: Source | 'none', error?: Error) => void {
  let reported: Source | 'none' | undefined
  return (next, error) => {
    if (next === reported) return
    if (next !== 'none') log.info('runtime events are streaming', { source: next })
    else log.warn('no runtime events, relying on relists', { error: error?.message ?? 'stream ended' })
    if (reported !== undefined || next !== 'none') onState(next === 'none' ? 'none' : 'streaming')
    reported = next
  }
}
