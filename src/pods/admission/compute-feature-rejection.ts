import type { Pod } from '../../model/pod/pod.ts'
import { featuresToRun } from '../../model/resources/required-features.ts'
import type { Rejection } from './rejection.ts'

/** Which of the newer features of pods this node has. */
export interface FeatureInfo {
  readonly podLevelResources: boolean
  /** As in the node's status; undefined when the node declares nothing (feature gate NodeDeclaredFeatures). */
  readonly declaredFeatures: readonly string[] | undefined
}

/** Rejects a pod that needs a feature which this node does not have. */
export function computeFeatureRejection(pod: Pod, info: FeatureInfo): Rejection | undefined {
  if (pod.spec.resources !== undefined && !info.podLevelResources) {
    return { reason: 'PodLevelResourcesNotSupported', message: 'PodLevelResources feature gate is disabled' }
  }
  const { declaredFeatures } = info
  if (declaredFeatures === undefined) return undefined
  const missing = featuresToRun(pod).filter((name) => !declaredFeatures.includes(name))
  if (missing.length === 0) return undefined
  const message = `Pod requires node features that are not available: ${missing.join(', ')}`
  return { reason: 'PodFeatureUnsupported', message }
}
