import { PodAllocations } from '../pods/allocations/pod-allocations.ts'
import { PodRegistry } from '../pods/sync/pod-registry.ts'
import { toResizeScope } from '../pods/sync/resize/to-resize-rules.ts'
import type { Base } from './open-base.ts'
import type { Runtime } from './open-runtime.ts'

/** Which pods there are: earlier parts ask it, the workers fill it. With what they were granted, as the agent before this one noted it. */
export async function openRegistry(base: Base, { observer }: Runtime) {
  const { settings, host, membership, rootDirectory, clock, log } = base
  const file = (name: string) => host.stateFile(`${rootDirectory}/${name}`)
  const allocations = await PodAllocations.load({
    files: { allocated: file('allocated_pods_state'), actuated: file('actuated_pods_state') },
    scope: toResizeScope(settings),
    log,
  })
  const registry = new PodRegistry({ allocations, observedPods: observer, events: membership.podEvents, clock })
  return { registry, allocations }
}
