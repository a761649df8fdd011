import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { TokenBucket } from '../../base/async/token-bucket.ts'
import type { NodeDevices } from '../../node/devices/create-devices.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { PodChanges } from './pod-changes.ts'
import { createPodResourcesServices } from './pod-resources.ts'
import type { GivenResources, PodResourcesDeps } from './pod-resources.ts'
import type { ContainerMemory } from './generated/pod-resources-v1.ts'
import { runGrpcServer } from '../../protocols/grpc/run-grpc-server.ts'
import type { PodRegistry } from '../../pods/sync/pod-registry.ts'
import type { PodClaims, UsedClaim } from '../../node/resource-claims/pod-claims.ts'
import type { PodCpus } from '../../node/cpus/pod-cpus.ts'
import type { MemoryBlock } from '../../node/memory/memory-state.ts'
import type { PodMemory } from '../../node/memory/pod-memory.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface RunNodeSocketsDeps {
  readonly settings: Pick<Settings, 'gates'>
  readonly rootDirectory: string
  readonly registry: Pick<PodRegistry, 'activePods' | 'views' | 'view'>
  readonly placement: {
    readonly cpus: Pick<PodCpus, 'exclusiveOf' | 'allocatable'>
    readonly memory: Pick<PodMemory, 'blocksOf' | 'allocatable'>
  }
  readonly devices: Pick<NodeDevices, 'devicesOf' | 'allocatable'>
  readonly claims: Pick<PodClaims, 'usedBy'>
  /** Changes of pods, for clients that watch them. */
  readonly changes: PodChanges
  readonly metrics: PodResourcesDeps['metrics']
  readonly clock: Clock
  readonly log: Logger
}

// As in the Go kubelet: enough for agents that poll, too little to keep the node busy.
const LIMIT = { perSecond: 100, burst: 10 }

/** What agents of this node may ask over its sockets, until the signal aborts. */
export async function runNodeSockets(deps: RunNodeSocketsDeps, signal: AbortSignal): Promise<void> {
  const { settings, rootDirectory, registry, devices, claims, changes, metrics, clock, log } = deps
  const { gates } = settings
  const { cpus, memory } = deps.placement
  await using group = new TaskGroup(signal)
  const resources = createPodResourcesServices(
    {
      activePods: () => registry.activePods(),
      pods: () => registry.views().map(({ pod }) => pod),
      listsActivePods: gates.enabled('KubeletPodResourcesListUseActivePods'),
      resourcesOf: (pod, container) => ({
        devices: devices.devicesOf(pod.metadata.uid, container.name),
        cpuIds: toIds(cpus.exclusiveOf(pod.metadata.uid, container.name)),
        memory: memory.blocksOf(pod.metadata.uid, container.name).map(toContainerMemory),
        dynamicResources: claims.usedBy(pod, container).map(toDynamicResource),
      }),
      allocatable: () => ({
        devices: devices.allocatable(),
        cpuIds: toIds(cpus.allocatable()),
        memory: memory.allocatable().map(toContainerMemory),
      }),
      metrics,
    },
    new TokenBucket({ ...LIMIT, clock }),
  )
  const serve = { clock, log }
  group.run('pod resources', (s) =>
    runGrpcServer(
      {
        ...serve,
        name: 'pod resources',
        socketPath: `${rootDirectory}/pod-resources/kubelet.sock`,
        services: resources,
      },
      s,
    ),
  )
  if (gates.enabled('PodsAPI')) {
    const { createPodsService } = await import('./pods-service.ts')
    const service = createPodsService(
      { pods: () => registry.views(), find: (uid) => registry.view(uid), changes },
      new TokenBucket({ ...LIMIT, clock }),
    )
    group.run('pods API', (s) =>
      runGrpcServer(
        { ...serve, name: 'pods', socketPath: `${rootDirectory}/pods-api/pods-api.sock`, services: [service] },
        s,
      ),
    )
  }
  await group.join()
}

function toDynamicResource({ namespace, name, devices }: UsedClaim): GivenResources['dynamicResources'][number] {
  return {
    claimName: name,
    claimNamespace: namespace,
    claimResources: devices.map(({ driver, poolName, deviceName, cdiDeviceIds, shareId }) => ({
      cdiDevices: cdiDeviceIds.map((id) => ({ name: id })),
      driverName: driver,
      poolName,
      deviceName,
      shareId,
    })),
  }
}

function toIds(cpus: readonly number[]): bigint[] {
  return cpus.map(BigInt)
}

function toContainerMemory({ type, size, nodes }: MemoryBlock): ContainerMemory {
  return { memoryType: type, size, topology: { nodes: [...nodes].map((id) => ({ ID: BigInt(id) })) } }
}
