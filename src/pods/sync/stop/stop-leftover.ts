import type { ObservedContainer, ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { computeContainerGrace } from '../decide/compute-grace.ts'
import { Grace } from './grace.ts'
import { killText } from './kill-texts.ts'
import { stopContainer } from './stop-container.ts'
import type { StopContainerDeps } from './stop-container.ts'

export interface Leftover {
  readonly observed: Pick<ObservedPod, 'name' | 'namespace' | 'uid'>
  readonly container: ObservedContainer
  readonly podIp: string | undefined
}

/**
 * Stops a container in an unknown state that no pod needs: it may still run, and then gets the hook and the grace that it was made with,
 * which the runtime has kept.
 */
export async function stopLeftover(deps: StopContainerDeps, leftover: Leftover, signal: AbortSignal): Promise<void> {
  const { container, podIp } = leftover
  const pod = toKeptPod(leftover)
  using grace = new Grace({ clock: deps.clock, seconds: computeContainerGrace(pod), among: new Set() })
  const message = killText({ what: 'Container', name: container.name }, 'unknown')
  await stopContainer(deps, { pod, container, podIp, grace, message, after: [] }, signal)
}

/** The pod of one container, as far as the runtime has kept it. */
export function toKeptPod({
  observed,
  container: { name, image, keptSpec = {} },
}: Pick<Leftover, 'observed' | 'container'>): Pod {
  const { deletionGracePeriodSeconds, terminationGracePeriodSeconds, preStop, ports } = keptSpec
  return {
    metadata: { name: observed.name, namespace: observed.namespace, uid: observed.uid, deletionGracePeriodSeconds },
    spec: { terminationGracePeriodSeconds, containers: [{ name, image, lifecycle: { preStop }, ports }] },
  }
}
