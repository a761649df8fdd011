import type { Container, ContainerStatus, ResourceRequirements } from '../../model/generated/core-v1.ts'
import { newestInstance } from '../../model/pod/observed-pod.ts'
import type { ObservedContainer, ObservedPod } from '../../model/pod/observed-pod.ts'
import { allocationOf } from '../../model/resources/pod-allocation.ts'
import type { PodAllocation, ResizeScope } from '../../model/resources/pod-allocation.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { withApplied } from '../../model/resources/with-applied.ts'

export interface Rebuilt {
  readonly allocated: PodAllocation
  readonly actuated: PodAllocation
}

/**
 * What a pod that runs was granted and has, when nothing is remembered of it: by the status that the API has of the same instances and by
 * what the runtime reports, and where that is unknown by the spec. So what was asked for since is still to be granted, and nothing is undone.
 */
export function computeRebuiltAllocation(
  pod: Pod,
  observed: ObservedPod,
  { scope, actuated: known }: { readonly scope: ResizeScope; readonly actuated: PodAllocation | undefined },
): Rebuilt {
  const asked = allocationOf(pod, scope)
  // What was last set has the limits of the whole pod in it, which are not the container's own.
  const remembered = pod.spec.resources?.limits === undefined ? known : undefined
  const allocated = new Map<string, ResourceRequirements>()
  const actuated = new Map<string, ResourceRequirements>()
  for (const { name } of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const wanted = asked.containers.get(name)
    if (wanted === undefined) continue
    const instance = newestInstance(observed, name)
    const reported = reportedOf(pod, name, instance)
    const granted = remembered?.containers.get(name) ?? (reported === undefined ? wanted : toGranted(wanted, reported))
    allocated.set(name, granted)
    if (instance !== undefined) actuated.set(name, toActual(reported?.resources ?? granted, instance))
  }
  return { allocated: { containers: allocated, pod: asked.pod }, actuated: { containers: actuated, pod: asked.pod } }
}

/** What was reported to the API of the very instance that is there. */
function reportedOf(
  { status }: Pod,
  name: Container['name'],
  instance: ObservedContainer | undefined,
): ContainerStatus | undefined {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return statuses.find(
    (each) => each.name === name && instance !== undefined && each.containerID?.endsWith(`//${instance.id}`) === true,
  )
}

/** The API keeps what was granted of requests; limits are those that were in force. */
function toGranted(
  { claims }: ResourceRequirements,
  { allocatedResources, resources }: ContainerStatus,
): ResourceRequirements {
  return {
    ...(allocatedResources === undefined ? {} : { requests: allocatedResources }),
    ...(resources?.limits === undefined ? {} : { limits: resources.limits }),
    ...(claims === undefined ? {} : { claims }),
  }
}

function toActual(known: ResourceRequirements, { state, applied }: ObservedContainer): ResourceRequirements {
  return state !== 'running' || applied === undefined ? known : withApplied(known, applied)
}
