import { NO_INJECTIONS } from '../../src/pods/containers/container-injections.ts'
import type { PodInjections } from '../../src/pods/sync/start/pod-injections.ts'

/** Nothing is added to containers. */
export const noInjections: PodInjections = {
  ensure: async () => {},
  containerInjections: async () => NO_INJECTIONS,
  rejectLost: () => undefined,
  health: () => new Map(),
  release: async () => {},
}
