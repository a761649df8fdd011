import type { Container, ResourceRequirements } from '../generated/core-v1.ts'
import { isSidecar } from '../pod/pod-containers.ts'
import type { Pod } from '../pod/pod.ts'

/** Resources of a pod and its containers at one moment: what it was granted, or what was last set for it. */
export interface PodAllocation {
  /** By name; a container that is not named has those of the spec. */
  readonly containers: ReadonlyMap<string, ResourceRequirements>
  /** Of the pod as a whole. */
  readonly pod: ResourceRequirements | undefined
}

/** The parts of a pod that can change their size while it runs, beside regular containers and sidecars. */
export interface ResizeScope {
  readonly initContainers: boolean
  readonly podLevel: boolean
}

/** What the spec asks for, of all that can be resized. */
export function allocationOf({ spec }: Pod, scope: ResizeScope): PodAllocation {
  const init = (spec.initContainers ?? []).filter((container) => scope.initContainers || isSidecar(container))
  const named = [...init, ...spec.containers].map(({ name, resources }) => [name, resources ?? {}] as const)
  return { containers: new Map(named), pod: scope.podLevel ? spec.resources : undefined }
}

/** The pod with resources that it has, whatever its spec asks for by now. */
export function withAllocation(pod: Pod, allocation: PodAllocation, scope: ResizeScope): Pod {
  const { initContainers, containers } = pod.spec
  const allocated = (container: Container): Container => {
    const resources = allocation.containers.get(container.name)
    return resources === undefined ? container : { ...container, resources }
  }
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(allocated) }),
      containers: containers.map(allocated),
      ...(scope.podLevel ? { resources: allocation.pod } : {}),
    },
  }
}
