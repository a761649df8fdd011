import type { TokenBucket } from '../../base/async/token-bucket.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import { isSidecar } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { NodeSocketMetrics } from '../../metrics/serving-metrics.ts'
import type { AllocatableResourcesResponse, ContainerResources, PodResources } from './generated/pod-resources-v1.ts'
import { PodResourcesListerDefinition } from './generated/pod-resources-v1.ts'
import { PodResourcesListerDefinition as OldDefinition } from './generated/pod-resources-v1alpha1.ts'
import type { GrpcService } from '../../protocols/grpc/to-grpc-service.ts'
import { CallRefusal, toGrpcService } from '../../protocols/grpc/to-grpc-service.ts'

/** What was given to a container alone. */
export type GivenResources = Omit<ContainerResources, 'name'>

export interface PodResourcesDeps {
  /** Those that were admitted and have not ended. */
  readonly activePods: () => readonly Pod[]
  /** All that are here; the old API lists these. */
  readonly pods: () => readonly Pod[]
  /** Whether List has active pods only. */
  readonly listsActivePods: boolean
  readonly resourcesOf: (pod: Pod, container: Container) => GivenResources
  /** All that could be given to single containers. */
  readonly allocatable: () => AllocatableResourcesResponse
  readonly metrics: NodeSocketMetrics
}

/** The API that shows monitoring agents which container has which devices, cores and memory; in both of its versions. */
export function createPodResourcesServices(
  deps: PodResourcesDeps,
  limit: Pick<TokenBucket, 'take'>,
): readonly GrpcService[] {
  const listed = () => (deps.listsActivePods ? deps.activePods() : deps.pods())
  const current = toGrpcService(
    PodResourcesListerDefinition,
    {
      list: counted(deps, 'v1', 'list', () => ({ podResources: listed().map((pod) => toPodResources(deps, pod)) })),
      get: counted(deps, 'v1', 'get', ({ podNamespace, podName }: { podNamespace: string; podName: string }) => {
        const pod = deps
          .activePods()
          .findLast(({ metadata }) => metadata.namespace === podNamespace && metadata.name === podName)
        if (pod === undefined)
          throw new CallRefusal('NotFound', `pod ${podName} in namespace ${podNamespace} not found`)
        return { podResources: toPodResources(deps, pod) }
      }),
      getAllocatableResources: counted(deps, 'v1', 'get_allocatable', () => deps.allocatable()),
    },
    limit,
  )
  const old = toGrpcService(
    OldDefinition,
    { list: counted(deps, 'v1alpha1', 'list', () => ({ podResources: deps.pods().map((pod) => toOld(deps, pod)) })) },
    limit,
  )
  return [current, old]
}

function toPodResources({ resourcesOf }: PodResourcesDeps, pod: Pod): PodResources {
  const { name, namespace } = pod.metadata
  const containers = [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers]
  return {
    name,
    namespace,
    containers: containers.map((container) => ({ name: container.name, ...resourcesOf(pod, container) })),
  }
}

/** The old API knows neither sidecars nor anything but devices. */
function toOld({ resourcesOf }: PodResourcesDeps, pod: Pod) {
  const { name, namespace } = pod.metadata
  const containers = pod.spec.containers.map((container) => ({
    name: container.name,
    devices: resourcesOf(pod, container).devices.map(({ resourceName, deviceIds }) => ({ resourceName, deviceIds })),
  }))
  return { name, namespace, containers }
}

type Request = Parameters<NodeSocketMetrics['podResourcesRequest']>[0]

function counted<Q, A>(
  { metrics }: PodResourcesDeps,
  version: Request['version'],
  method: Request['method'],
  answer: (request: Q) => A,
): (request: Q) => A {
  return (request) => {
    let failed = true
    try {
      const reply = answer(request)
      failed = false
      return reply
    } finally {
      metrics.podResourcesRequest({ version, method, failed })
    }
  }
}
