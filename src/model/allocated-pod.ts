import type { Container, ResourceRequirements } from './generated/core-v1.ts'
import type { Pod } from './pod.ts'

/** By container name: the resources that a container was made with. One that is not named has those of the spec. */
export type Allocations = ReadonlyMap<string, ResourceRequirements | undefined>

/** The pod with the resources that its containers really have, whatever the spec asks for by now. */
export function toAllocatedPod(pod: Pod, allocations: Allocations): Pod {
  const { initContainers, containers } = pod.spec
  const allocated = (container: Container): Container =>
    allocations.has(container.name) ? { ...container, resources: allocations.get(container.name) } : container
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(allocated) }),
      containers: containers.map(allocated),
    },
  }
}
