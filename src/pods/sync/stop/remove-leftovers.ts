import { containerLogSymlink } from '../../containers/log-paths.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { LeftoverRule, Leftovers } from '../decide/compute-leftovers.ts'
import type { NodeSettings } from '../node-settings.ts'
import type { PodHistory } from '../pod-history.ts'
import { removeContainer } from './remove-container.ts'
import { unlessGone } from './stop-container.ts'
import { stopLeftover } from './stop-leftover.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { RemoveContainerDeps } from './remove-container.ts'
import type { StopContainerDeps } from './stop-container.ts'

export type RemoveLeftoversDeps = StopContainerDeps &
  RemoveContainerDeps & {
    readonly calls: Pick<CriCalls, 'stopPodSandbox' | 'removePodSandbox'>
    readonly files: {
      /** Removes a container's log, what was rotated of it, and the link to it. */
      removeLogs(logPath: string, link: string): Promise<void>
    }
    /** Takes why something could not be removed. */
    readonly onGarbageFailure: (why: string) => void
  }

/** The pod whose leftovers they are. */
export type LeftoversOwner = Pick<ObservedPod, 'name' | 'namespace' | 'uid'> & {
  readonly history: Pick<PodHistory, 'stoppedSandboxes'>
}

/** Removes dead containers with their logs, and dead sandboxes; what may still run is stopped first. What is gone already is fine. */
export async function removeLeftovers(
  deps: RemoveLeftoversDeps,
  owner: LeftoversOwner,
  leftovers: Leftovers,
  signal: AbortSignal,
): Promise<void> {
  try {
    await removeAll(deps, owner, leftovers, signal)
  } catch (error) {
    if (!signal.aborted) deps.onGarbageFailure(error instanceof CriCallError ? error.rpcText : errorMessage(error))
    throw error
  }
}

async function removeAll(
  deps: RemoveLeftoversDeps,
  owner: LeftoversOwner,
  leftovers: Leftovers,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    leftovers.containers.map(async (container) => {
      const { id, name, logPath, state } = container
      if (state === 'unknown') await stopLeftover(deps, { observed: owner, container, podIp: undefined }, signal)
      await deps.files.removeLogs(logPath, containerLogSymlink({ metadata: owner }, name, id))
      await removeContainer(deps, { uid: owner.uid, id }, signal)
    }),
  )
  const { stoppedSandboxes } = owner.history
  await Promise.all(
    leftovers.sandboxes.map(async ({ id }) => {
      // Each time it runs all network plugins, also for one that is stopped already.
      if (!stoppedSandboxes.has(id)) await deps.calls.stopPodSandbox({ podSandboxId: id }, signal)
      await unlessGone(deps.calls.removePodSandbox({ podSandboxId: id }, signal))
      stoppedSandboxes.delete(id)
    }),
  )
}

/** Which dead containers of a pod may stay now. */
export function toLeftoverRule(
  {
    node,
    clock,
  }: { readonly node: Pick<NodeSettings, 'deadContainerLeastMs' | 'deadInstancesKept'>; readonly clock: Clock },
  { surplus }: Pick<PodHistory, 'surplus'>,
): LeftoverRule {
  return { kept: node.deadInstancesKept, createdBefore: oldEnoughBefore(node, clock.now()), surplus }
}

/** Dead containers that were made before this may be removed. Where they need no age, a runtime whose clock is ahead of ours keeps none either. */
export function oldEnoughBefore(
  { deadContainerLeastMs }: Pick<NodeSettings, 'deadContainerLeastMs'>,
  now: number,
): number {
  return deadContainerLeastMs === 0 ? Infinity : now - deadContainerLeastMs
}
