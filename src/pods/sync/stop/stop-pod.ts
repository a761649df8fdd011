import type { ObservedContainer, ObservedPod } from '../../../model/pod/observed-pod.ts'
import { containerKind, isSidecar } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { Grace } from './grace.ts'
import type { PodTermination } from './pod-termination.ts'
import { stopContainer, unlessGone } from './stop-container.ts'
import { stopLeftover, toKeptPod } from './stop-leftover.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { StopContainerDeps } from './stop-container.ts'

export type StopPodDeps = StopContainerDeps & {
  readonly calls: Pick<CriCalls, 'stopPodSandbox'>
  /** The addresses of the node, which pods in its network share. */
  readonly node: { readonly container: { readonly ips: readonly string[] } }
}

export interface PodStop {
  /** Undefined for an orphan: what is left of a pod that no source has. */
  readonly pod: Pod | undefined
  readonly observed: ObservedPod
  readonly grace: Grace
  /** Takes the ids of the sandboxes that are stopped then. */
  readonly stoppedSandboxes: Set<string>
  /** Undefined for what runs again although the pod had ended. */
  readonly termination?: PodTermination | undefined
}

/** Stops everything of a pod: containers at once, sidecars after the containers they serve, then the sandboxes. */
export async function stopPod(deps: StopPodDeps, request: PodStop, signal: AbortSignal): Promise<void> {
  const { pod, observed, grace, stoppedSandboxes, termination } = request
  const running = observed.containers.filter(({ state }) => state === 'running' || state === 'unknown')
  const podIp = findPodIp(deps, request)
  const stopped = new Map<string, Promise<void>>()
  for (const container of inStopOrder(pod, running)) {
    const after = [...stopped.entries()]
      .filter(([id]) => mustEndBefore(pod, running, { id, container }))
      .map(([, end]) => end)
    const message = `Stopping container ${container.name}`
    const end =
      pod === undefined && container.state === 'unknown'
        ? stopLeftover(deps, { observed, container, podIp }, signal)
        : stopContainer(
            deps,
            { pod: pod ?? findKeptPod(observed, container), container, podIp, grace, termination, message, after },
            signal,
          )
    stopped.set(container.id, end)
  }
  // A sandbox takes its containers with it, without any grace: it stays until all of them have had theirs.
  await allOf([...stopped.values()])
  await allOf(
    observed.sandboxes.map(async ({ id }) => {
      await unlessGone(deps.calls.stopPodSandbox({ podSandboxId: id }, signal))
      stoppedSandboxes.add(id)
    }),
  )
}

/** A hook of an orphan's container is run too, within the grace of orphans. */
function findKeptPod(observed: ObservedPod, container: ObservedContainer): Pod | undefined {
  return container.keptSpec?.preStop === undefined ? undefined : toKeptPod({ observed, container })
}

/** Where hooks reach the pod. */
export function findPodIp(
  deps: Pick<StopPodDeps, 'node'>,
  { pod, observed }: Pick<PodStop, 'pod' | 'observed'>,
): string | undefined {
  const ips = pod?.spec.hostNetwork === true ? deps.node.container.ips : observed.sandboxes[0]?.ips
  return ips?.[0]
}

/** Waits for all, also after one has failed: nothing goes on after the call has returned. */
async function allOf(ends: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(ends)
  await Promise.all(ends)
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
  return otherRank === -1 ? containerKind(pod, other.name) === 'regular' : otherRank > rank
}
