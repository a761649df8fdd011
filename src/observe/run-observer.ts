import type { Clock } from '../async/clock.ts'
import { TaskGroup } from '../async/task-group.ts'
import { Wakeup } from '../async/wakeup.ts'
import type { CriClient } from '../cri/cri-client.ts'
import { runRuntimeEvents } from '../cri/runtime-events.ts'
import type { RuntimeHint } from '../cri/to-runtime-hint.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Observer } from './observer.ts'

export interface RunObserverDeps {
  readonly observer: Observer
  readonly client: Pick<CriClient, 'getContainerEvents' | 'containerdEvents'>
  readonly clock: Clock
  readonly log: Logger
  /** Told after each full look: how long it took, or what went wrong. */
  readonly onRelist: (result: { readonly ms: number; readonly error?: unknown }) => void
}

// With events the full look only catches what was lost; without them it is all there is.
const RELIST_WITH_EVENTS_MS = 30_000
const RELIST_WITHOUT_EVENTS_MS = 1000
// containerd shows a container as running for a while after it told of the exit: look again soon, and not forever.
const LOOK_AGAIN_MS = [2, 5, 10, 20, 40, 80, 160, 320, 640]

/** Keeps the observer true until the signal aborts: hints from the runtime at once, a full look now and then. */
export async function runObserver(deps: RunObserverDeps, signal: AbortSignal): Promise<void> {
  const { observer, clock, log } = deps
  const bell = new Wakeup()
  let streaming = false
  await using group = new TaskGroup(signal)
  group.run('runtime events', (eventsSignal) =>
    runRuntimeEvents(
      {
        client: deps.client,
        clock,
        log,
        onHint: (hint) => group.run('hint', (hintSignal) => followHint(deps, hint, hintSignal)),
        onState: (state) => {
          streaming = state === 'streaming'
          // Whatever happened while no events came is found by looking at everything once.
          bell.wake()
        },
      },
      eventsSignal,
    ),
  )
  group.run('relist', async (relistSignal) => {
    for (;;) {
      await bell.wait({ clock, ms: streaming ? RELIST_WITH_EVENTS_MS : RELIST_WITHOUT_EVENTS_MS }, relistSignal)
      const startedAt = clock.monotonic()
      try {
        await observer.relist()
        deps.onRelist({ ms: clock.monotonic() - startedAt })
      } catch (error) {
        if (relistSignal.aborted) throw error
        deps.onRelist({ ms: clock.monotonic() - startedAt, error })
      }
    }
  })
  await group.join()
}

async function followHint(
  { observer, clock, log }: RunObserverDeps,
  hint: RuntimeHint,
  signal: AbortSignal,
): Promise<void> {
  // The workers look for themselves after all they start. A part of theirs may end before that, and still be shown as running then.
  if (hint.kind === 'started' || hint.kind === 'created') return
  try {
    const gone = hint.kind === 'deleted'
    const uid = gone ? observer.ownerOf(hint.containerId) : await observer.findOwner(hint.containerId)
    if (uid === undefined) return
    for (const pause of LOOK_AGAIN_MS) {
      const pod = await observer.refresh(uid)
      const stillRuns =
        pod?.containers.some(({ id, state }) => id === hint.containerId && state === 'running') === true ||
        pod?.sandboxes.some(({ id, ready }) => id === hint.containerId && ready) === true
      if (!stillRuns || hint.kind === 'oom') return
      await clock.sleep(pause, signal)
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    log.debug('cannot look at a pod after a runtime event', { container: hint.containerId, error })
  }
}
