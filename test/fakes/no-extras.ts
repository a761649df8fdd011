import { NO_EXTRAS } from '../../src/pods/containers/container-extras.ts'
import type { PodExtras } from '../../src/pods/sync/start/pod-extras.ts'

/** Nobody adds anything to containers. */
export const noExtras: PodExtras = {
  ensure: async () => {},
  containerExtras: async () => NO_EXTRAS,
  health: () => new Map(),
  release: async () => {},
}
