import type { Container } from '../generated/core-v1.ts'
import type { Pod } from '../pod/pod.ts'

/** Does a container get an extended resource from a claim that the scheduler made, and not from what the node has? */
function isClaimed({ status }: Pod, container: string, resource: string): boolean {
  return (status?.extendedResourceClaimStatus?.requestMappings ?? []).some(
    ({ containerName, resourceName }) => containerName === container && resourceName === resource,
  )
}

/** The same pod, asking only for what the node itself has to have. */
export function withoutClaimed(pod: Pod): Pod {
  if ((pod.status?.extendedResourceClaimStatus?.requestMappings ?? []).length === 0) return pod
  const strip = (container: Container): Container => {
    const { requests } = container.resources ?? {}
    if (requests === undefined) return container
    const left = Object.entries(requests).filter(([resource]) => !isClaimed(pod, container.name, resource))
    return { ...container, resources: { ...container.resources, requests: Object.fromEntries(left) } }
  }
  const { containers, initContainers } = pod.spec
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: containers.map(strip),
      ...(initContainers && { initContainers: initContainers.map(strip) }),
    },
  }
}
