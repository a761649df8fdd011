import type { Settings } from '../../../model/config/load-configuration.ts'
import type { ResizeScope } from '../../../model/resources/pod-allocation.ts'
import { usesSwap } from '../../containers/compute-container-resources.ts'
import type { ContainerResourceSettings } from '../../containers/compute-container-resources.ts'
import type { ResizeRules } from './compute-resize-rejection.ts'

/** Which of a pod's resources may change while it runs. */
export function toResizeScope({ gates }: Pick<Settings, 'gates'>): ResizeScope {
  return {
    initContainers: gates.enabled('InPlacePodVerticalScalingInitContainers'),
    podLevel: gates.enabled('InPlacePodLevelResourcesVerticalScaling'),
  }
}

/** What the configuration allows of resizes. */
export function toResizeRules(
  settings: Pick<Settings, 'gates' | 'config'>,
  resources: ContainerResourceSettings,
): ResizeRules {
  const { gates, config } = settings
  return {
    scope: toResizeScope(settings),
    staticCpus: config.cpuManagerPolicy === 'static' && !gates.enabled('InPlacePodVerticalScalingExclusiveCPUs'),
    staticMemory: config.memoryManagerPolicy === 'Static' && !gates.enabled('InPlacePodVerticalScalingExclusiveMemory'),
    usesSwap: (pod, container) => usesSwap(pod, container, resources),
  }
}
