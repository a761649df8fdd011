import type { Settings } from '../../model/config/load-configuration.ts'
import type { PodLevel } from './pod-level.ts'

/** What pods with resources of their own get, as the gate and the scope of placement say. */
export function toPodLevel({ gates, config }: Pick<Settings, 'gates' | 'config'>): PodLevel {
  if (!gates.enabled('PodLevelResourceManagers')) return 'off'
  return config.topologyManagerPolicy === 'none' ? 'container' : config.topologyManagerScope
}
