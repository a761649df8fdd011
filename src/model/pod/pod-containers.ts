import type { Container, EphemeralContainer } from '../generated/core-v1.ts'
import type { Pod } from './pod.ts'

export type ContainerKind = 'init' | 'regular' | 'ephemeral'

/** A container of the spec with the list it stands in. */
export interface PodContainer {
  readonly kind: ContainerKind
  readonly container: Container | EphemeralContainer
}

/** Every container of the spec: init, regular, ephemeral, each list in its order. */
export function allContainers(pod: Pod): PodContainer[] {
  return [
    ...(pod.spec.initContainers ?? []).map((container) => ({ kind: 'init' as const, container })),
    ...pod.spec.containers.map((container) => ({ kind: 'regular' as const, container })),
    ...(pod.spec.ephemeralContainers ?? []).map((container) => ({ kind: 'ephemeral' as const, container })),
  ]
}

/** A sidecar: an init container that keeps running beside the regular ones. */
export function isSidecar(container: Pick<Container, 'restartPolicy'>): boolean {
  return container.restartPolicy === 'Always'
}

/** The field of the spec that an event about a container points at. */
export function containerFieldPath(kind: ContainerKind, name: string): string {
  const list = { init: 'initContainers', regular: 'containers', ephemeral: 'ephemeralContainers' }[kind]
  return `spec.${list}{${name}}`
}

/** The list that a container of this name stands in. A name that the spec no longer has was a debugging container's. */
export function containerKind({ spec }: Pod, name: string): ContainerKind {
  if (spec.initContainers?.some((container) => container.name === name) === true) return 'init'
  return spec.containers.some((container) => container.name === name) ? 'regular' : 'ephemeral'
}

/** A container that the plan for a pod names; a plan names only containers of its pod. */
export function findContainer(pod: Pod, name: string): PodContainer {
  const podContainer = allContainers(pod).find(({ container }) => container.name === name)
  if (podContainer === undefined) throw new Error(`Cannot find container "${name}": the pod has no such container`)
  return podContainer
}
