import type { Rejection } from '../pods/admission/rejection.ts'
import type { Clock } from '../base/async/clock.ts'
import type { Settings } from '../model/config/load-configuration.ts'
import { usesSwap } from '../pods/containers/compute-container-resources.ts'
import { createStateFile } from '../system/files/create-state-file.ts'
import type { Pod, PodUid } from '../model/pod/pod.ts'
import type { NodeSettings } from '../pods/sync/node-settings.ts'
import type { PodWorkers } from '../pods/sync/pod-workers.ts'
import { PodResizes } from '../pods/sync/resize/pod-resizes.ts'
import { PodAllocations } from '../pods/allocations/pod-allocations.ts'
import type { AgentMetrics } from '../metrics/create-metrics.ts'
import type { Logger } from '../base/telemetry/logger.ts'
import type { PodEvents } from '../model/events/pod-events.ts'

export interface CreateResizingDeps {
  readonly settings: Pick<Settings, 'gates' | 'config'>
  readonly rootDirectory: string
  readonly node: NodeSettings
  readonly workers: () => Pick<PodWorkers, 'desired' | 'wake'>
  readonly admit: (pod: Pod) => Rejection | undefined
  readonly declaredFeatures: readonly string[] | undefined
  readonly metrics: AgentMetrics
  readonly events: PodEvents
  readonly clock: Clock
  readonly log: Logger
}

/** What pods were granted, and who asks for something else. */
export async function createResizing(deps: CreateResizingDeps) {
  const { settings, rootDirectory, node, workers, clock, log } = deps
  const { gates, config } = settings
  const scope = {
    initContainers: gates.enabled('InPlacePodVerticalScalingInitContainers'),
    podLevel: gates.enabled('InPlacePodLevelResourcesVerticalScaling'),
  }
  const file = (name: string) => createStateFile(`${rootDirectory}/${name}`, clock)
  const allocations = await PodAllocations.load({
    files: { allocated: file('allocated_pods_state'), actuated: file('actuated_pods_state') },
    scope,
    log,
  })
  const resizes = new PodResizes({
    ...deps,
    allocations,
    rules: {
      scope,
      staticCpus: config.cpuManagerPolicy === 'static' && !gates.enabled('InPlacePodVerticalScalingExclusiveCPUs'),
      staticMemory:
        config.memoryManagerPolicy === 'Static' && !gates.enabled('InPlacePodVerticalScalingExclusiveMemory'),
      usesSwap: (pod, container) => usesSwap(pod, container, node.container.resources),
    },
    find: (uid: PodUid) => workers().desired(uid),
    wake: (uid: PodUid) => workers().wake(uid),
  })
  return { allocations, resizes }
}
