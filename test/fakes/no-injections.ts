import { NO_INJECTIONS } from '../../src/pods/containers/container-injections.ts'
import type { PodInjections } from '../../src/pods/sync/start/pod-injections.ts'

/** Nobody adds anything to containers. */
export const noInjections: PodInjections = {
  ensure: async () => {},
  containerInjections: async () => NO_INJECTIONS,
  health: () => new Map(),
  release: async () => {},
}
