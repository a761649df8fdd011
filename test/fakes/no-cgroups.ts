import type { PodRuntime } from '../../src/pods/sync/pod-runtime.ts'

/** The cgroups of a node whose pods have none of their own. */
export const noCgroups: PodRuntime['cgroups'] = {
  ensure: async () => false,
  current: async () => undefined,
  write: async () => {},
  containerMemory: async () => undefined,
  remove: async () => {},
  killContainer: async () => {},
}
