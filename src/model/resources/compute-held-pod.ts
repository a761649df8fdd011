import type { Container, ContainerStatus } from '../generated/core-v1.ts'
import type { Pod } from '../pod/pod.ts'
import { compareQuantities, parseQuantity } from './quantity.ts'

type HeldPod = Pick<Pod, 'spec' | 'status'>
type Requests = Readonly<Record<string, string>>

/** The pod with what it holds: while it is resized, the larger of what it has and what it asks for. */
export function computeHeldPod<T extends HeldPod>(pod: T): T {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
  if (!statuses.some(({ resources, allocatedResources }) => resources ?? allocatedResources)) return pod
  const held = (container: Container): Container => {
    const status = statuses.find(({ name }) => name === container.name)
    if (status === undefined) return container
    const requests = listRequests(container, status, isInfeasible(pod)).reduce(largest, {})
    return { ...container, resources: { ...container.resources, requests } }
  }
  const { initContainers, containers } = pod.spec
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(initContainers && { initContainers: initContainers.map(held) }),
      containers: containers.map(held),
    },
  }
}

/** What was asked for and can never be given counts for nothing. */
function listRequests(
  { resources }: Container,
  { resources: actual, allocatedResources }: ContainerStatus,
  infeasible: boolean,
): readonly Requests[] {
  const own = infeasible && allocatedResources !== undefined ? {} : (resources?.requests ?? {})
  return [own, actual?.requests ?? {}, allocatedResources ?? {}]
}

function isInfeasible({ status }: HeldPod): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') === true
}

function largest(a: Requests, b: Requests): Requests {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries(
    [...names].map((name) => {
      const [x, y] = [a[name] ?? '0', b[name] ?? '0']
      return [name, compareQuantities(parseQuantity(x), parseQuantity(y)) < 0 ? y : x]
    }),
  )
}
