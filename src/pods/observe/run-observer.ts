import type { Clock } from '../../base/async/clock.ts'
import { BackOff } from '../../base/async/back-off.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { CriClient } from '../../protocols/cri/cri-client.ts'
import { runRuntimeEvents } from '../../protocols/cri/runtime-events.ts'
import type { RuntimeEventsDeps } from '../../protocols/cri/runtime-events.ts'
import type { RuntimeHint } from '../../protocols/cri/to-runtime-hint.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { EventTrust } from './event-trust.ts'
import type { Observer } from './observer.ts'

export interface RunObserverDeps extends Pick<RuntimeEventsDeps, 'onStream' | 'onEvent'> {
  readonly observer: Observer
  /** Has to see the changes that the observer reports. */
  readonly trust: EventTrust
  /** False: the relist is what shows the agent its own actions, so it runs often with events, too. */
  readonly onDemand?: boolean
  readonly client: Pick<CriClient, 'getContainerEvents' | 'containerdEvents'>
  readonly clock: Clock
  readonly log: Logger
  /** Called after each relist with how long it took, or what went wrong. */
  readonly onRelist: (result: { readonly ms: number; readonly error?: unknown }) => void
}

// With events the relist only catches what was lost; without them it is all there is.
const RELIST_WITH_EVENTS_MS = 30_000
const RELIST_WITHOUT_EVENTS_MS = 1000
// Of a stream that has brought nothing yet one cannot say which it is. It may be silent for days because nothing happens, so this ends.
const RELIST_UNPROVEN = { firstMs: RELIST_WITHOUT_EVENTS_MS, longestMs: RELIST_WITH_EVENTS_MS }
// containerd shows a container as running for a while after it reported the end: refresh again soon, and not forever.
const CHECK_AGAIN_MS = [0, 2, 5, 10, 20, 40, 80, 160, 320, 640]
// Each check before containerd has reported the end, too, would be in vain; should it not, what is there is looked at all the same.
const CHECK_AFTER_EXIT_MS = [60, ...CHECK_AGAIN_MS.filter((ms) => ms > 60)]

/** Keeps the observer up to date until the signal aborts: hints from the runtime at once, a relist now and then. */
export async function runObserver(deps: RunObserverDeps, signal: AbortSignal): Promise<void> {
  const { clock, log, trust } = deps
  const stream: StreamState = {
    wakeup: new Wakeup(),
    unproven: new BackOff(RELIST_UNPROVEN),
    isOpen: false,
    changes: 0,
    relistInMs: 0,
  }
  // Run again after a failure: there is no stream yet.
  trust.streamChanged()
  await using group = new TaskGroup(signal)
  group.run('runtime events', (eventsSignal) =>
    runRuntimeEvents(
      {
        ...deps,
        clock,
        log,
        onHint: (hint) => {
          trust.reported(hint)
          group.run('hint', (hintSignal) => followHint(deps, hint, hintSignal))
        },
        onState: (state) => {
          stream.isOpen = state === 'streaming'
          stream.changes += 1
          stream.unproven.reset()
          trust.streamChanged()
          // What happened while no events came is found by one relist.
          stream.wakeup.wake()
        },
      },
      eventsSignal,
    ),
  )
  const onDoubt = () => {
    if (stream.relistInMs > RELIST_WITHOUT_EVENTS_MS) stream.wakeup.wake()
  }
  group.run('event trust', (trustSignal) => trust.run(onDoubt, trustSignal))
  group.run('relist', (relistSignal) => runRelists(deps, stream, relistSignal))
  await group.join()
}

interface StreamState {
  readonly wakeup: Wakeup
  /** The waits between relists while it is not known what it is worth. */
  readonly unproven: BackOff
  isOpen: boolean
  /** How often it was opened, or broke. */
  changes: number
  /** How long the wait for the next relist is. */
  relistInMs: number
}

async function runRelists(deps: RunObserverDeps, stream: StreamState, signal: AbortSignal): Promise<void> {
  const { observer, clock, trust } = deps
  for (;;) {
    const startedAt = clock.monotonic()
    const { changes } = stream
    const failure = await observer.relist().then(
      () => ({}),
      (error: unknown) => ({ error }),
    )
    signal.throwIfAborted()
    deps.onRelist({ ms: clock.monotonic() - startedAt, ...failure })
    if (stream.isOpen && stream.changes === changes) trust.expectEvents()
    trust.forget((id) => observer.ownerOf(id) !== undefined)
    stream.relistInMs = relistInMs(deps, stream)
    await stream.wakeup.wait({ clock, ms: stream.relistInMs }, signal)
  }
}

function relistInMs({ observer, onDemand, trust }: RunObserverDeps, { isOpen, unproven }: StreamState): number {
  if (!isOpen || onDemand === false) return RELIST_WITHOUT_EVENTS_MS
  // Where nothing runs, nothing ends; what the agent starts shows whether events come.
  if (trust.state === 'proven' || !runsAnything(observer)) return RELIST_WITH_EVENTS_MS
  return trust.state === 'doubted' ? RELIST_WITHOUT_EVENTS_MS : unproven.next()
}

/** Refreshes the pod of a hint until it shows what the hint reported, or until the next relist is soon enough. */
async function followHint(
  { observer, clock, log }: RunObserverDeps,
  { containerId, kind }: RuntimeHint,
  signal: AbortSignal,
): Promise<void> {
  // The workers refresh their pod after all they make and start.
  if (kind === 'created' || (kind === 'started' && !isKnownNotToRun(observer, containerId))) return
  for (const pause of kind === 'exited' ? CHECK_AFTER_EXIT_MS : CHECK_AGAIN_MS) {
    if (pause > 0) await clock.sleep(pause, signal)
    // A container may end before the worker that started it has refreshed its pod: it is not known yet, and soon will be.
    const uid = observer.ownerOf(containerId)
    if (uid === undefined) continue
    const isEnd = kind === 'exited' || kind === 'stopped'
    if (isEnd && hasEnded(observer.get(uid), containerId)) return
    try {
      const pod = await observer.refreshNow(uid)
      if (kind === 'oom' || runs(pod, containerId) === (kind === 'started')) return
    } catch (error) {
      signal.throwIfAborted()
      log.debug('cannot refresh a pod after a runtime event', { uid, error })
    }
  }
}

/** True for what was observed before it started: then a worker did not wait for the start, and the runtime was late with it. */
function isKnownNotToRun(observer: Observer, id: string): boolean {
  const uid = observer.ownerOf(id)
  return uid !== undefined && !runs(observer.get(uid), id)
}

function runs(pod: ObservedPod | undefined, id: string): boolean {
  return (
    pod?.containers.some((container) => container.id === id && container.state === 'running') === true ||
    pod?.sandboxes.some((sandbox) => sandbox.id === id && sandbox.ready) === true
  )
}

/** Not of what was never seen to run: then the end of it is news. */
function hasEnded(pod: ObservedPod | undefined, id: string): boolean {
  return (
    pod?.containers.some((container) => container.id === id && container.state === 'exited') === true ||
    pod?.sandboxes.some((sandbox) => sandbox.id === id && !sandbox.ready) === true
  )
}

function runsAnything(observer: Observer): boolean {
  return observer.uids().some((uid) => {
    const pod = observer.get(uid)
    return (
      pod?.containers.some(({ state }) => state === 'running') === true ||
      pod?.sandboxes.some(({ ready }) => ready) === true
    )
  })
}
