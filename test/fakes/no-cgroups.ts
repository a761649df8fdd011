import type { PodDeps } from '../../src/pods/sync/pod-worker.ts'

/** The cgroups of a node whose pods have none of their own. */
export const noCgroups: PodDeps['cgroups'] = {
  ensure: async () => false,
  current: async () => undefined,
  write: async () => {},
  containerMemory: async () => undefined,
  remove: async () => {},
  killContainer: async () => {},
}
