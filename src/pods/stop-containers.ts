import { AbortScope } from '../async/abort-scope.ts'
import type { ObservedContainer, ObservedPod } from '../model/observed-pod.ts'
import { containerFieldPath, isSidecar } from '../model/pod-containers.ts'
import type { ContainerKind } from '../model/pod-containers.ts'
import type { Pod } from '../model/pod.ts'
import type { PodRuntime } from './pod-runtime.ts'

// A container always gets this long between the signal and its death.
const SHORTEST_STOP_SECONDS = 2

export interface StopRequest {
  /** Undefined for what is left of a pod that nobody knows any more. */
  readonly pod: Pod | undefined
  readonly observed: ObservedPod
  readonly graceSeconds: number
}

/** Stops everything of a pod: containers at once, sidecars after the containers they serve, then the sandboxes. */
export async function stopPod(runtime: PodRuntime, request: StopRequest, signal: AbortSignal): Promise<void> {
  const running = request.observed.containers.filter(({ state }) => state === 'running' || state === 'unknown')
  const stopped = new Map<string, Promise<void>>()
  const startedAt = runtime.clock.monotonic()
  for (const container of inStopOrder(request.pod, running)) {
    const before = [...stopped.entries()]
      .filter(([id]) => mustEndBefore(request.pod, running, { id, container }))
      .map(([, end]) => end)
    stopped.set(container.id, stopAfter(runtime, { ...request, container, before, startedAt }, signal))
  }
  // A sandbox takes its containers with it, without any grace: it stays until all of them have had theirs.
  await allOf([...stopped.values()])
  await allOf(request.observed.sandboxes.map(({ id }) => runtime.calls.stopPodSandbox({ podSandboxId: id }, signal)))
}

/** Waits for all, also after one has failed: nothing goes on behind the back of whoever called. */
async function allOf(ends: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(ends)
  await Promise.all(ends)
}

interface OneStop extends StopRequest {
  readonly container: ObservedContainer
  readonly before: readonly Promise<void>[]
  readonly startedAt: number
}

/** Waits for the containers that have to end first, at most as long as the grace, and stops with what is left of it. */
async function stopAfter(runtime: PodRuntime, stop: OneStop, signal: AbortSignal): Promise<void> {
  if (stop.before.length > 0) {
    using patience = new AbortScope(signal)
    await Promise.race([
      Promise.allSettled(stop.before),
      runtime.clock.sleep(stop.graceSeconds * 1000, patience.signal),
    ])
  }
  const elapsedSeconds = Math.floor((runtime.clock.monotonic() - stop.startedAt) / 1000)
  const message = `Stopping container ${stop.container.name}`
  await stopContainer(runtime, { ...stop, graceSeconds: stop.graceSeconds - elapsedSeconds, message }, signal)
}

/** Stops one container and tells the users of its pod. */
export async function stopContainer(
  runtime: PodRuntime,
  stop: {
    readonly pod: Pod | undefined
    readonly container: Pick<ObservedContainer, 'id' | 'name'>
    readonly graceSeconds: number
    readonly message: string
  },
  signal: AbortSignal,
): Promise<void> {
  const { pod, container, message } = stop
  if (pod !== undefined) {
    const fieldPath = containerFieldPath(kindOf(pod, container.name), container.name)
    runtime.events.record(pod, { type: 'Normal', reason: 'Killing', message, fieldPath })
  }
  const timeout = BigInt(Math.max(stop.graceSeconds, SHORTEST_STOP_SECONDS))
  await runtime.calls.stopContainer({ containerId: container.id, timeout }, signal)
}

function kindOf(pod: Pod, name: string): ContainerKind {
  if (pod.spec.initContainers?.some((container) => container.name === name) === true) return 'init'
  return pod.spec.containers.some((container) => container.name === name) ? 'regular' : 'ephemeral'
}

/** Sidecars end last, in the reverse of their order. */
function sidecarRank(pod: Pod | undefined, name: string): number {
  return (pod?.spec.initContainers ?? []).filter(isSidecar).findIndex((container) => container.name === name)
}

function inStopOrder(pod: Pod | undefined, running: readonly ObservedContainer[]): ObservedContainer[] {
  const order = (name: string) => {
    const rank = sidecarRank(pod, name)
    return rank === -1 ? Number.POSITIVE_INFINITY : rank
  }
  return [...running].sort((a, b) => {
    const [first, second] = [order(a.name), order(b.name)]
    return first === second ? 0 : second - first
  })
}

/** A sidecar waits for all regular containers and for the sidecars declared after it. */
function mustEndBefore(
  pod: Pod | undefined,
  running: readonly ObservedContainer[],
  pair: { readonly id: string; readonly container: ObservedContainer },
): boolean {
  const other = running.find(({ id }) => id === pair.id)
  if (pod === undefined || other === undefined) return false
  const rank = sidecarRank(pod, pair.container.name)
  if (rank === -1) return false
  const otherRank = sidecarRank(pod, other.name)
  return otherRank === -1 ? kindOf(pod, other.name) === 'regular' : otherRank > rank
}
