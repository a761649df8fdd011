import { isDeepStrictEqual } from 'node:util'
import { FLAG_FIELDS, type KubeletFlags } from './flags/kubelet-flags.ts'
import { object } from './kinds/collection-kinds.ts'
import { CONFIGURATION, type GivenConfiguration } from './kubelet-configuration.ts'

/**
 * Fields of features that are not there yet. They are read, checked and kept; whoever sets one is told at the start that nothing
 * follows from it so far. A feature that arrives takes its fields off this list.
 */
const NOT_YET_HONOURED: readonly (keyof GivenConfiguration)[] = [
  // Volumes.
  'volumePluginDir',
  // The node protects itself and its pods.
  'kubeletCgroups',
  'systemCgroups',
  'systemReserved',
  'kubeReserved',
  'systemReservedCgroup',
  'kubeReservedCgroup',
  'reservedSystemCPUs',
  'reservedMemory',
  'enforceNodeAllocatable',
  'podPidsLimit',
  'qosReserved',
  'cpuManagerPolicy',
  'cpuManagerPolicyOptions',
  'cpuManagerReconcilePeriod',
  'memoryManagerPolicy',
  'topologyManagerPolicy',
  'topologyManagerScope',
  'topologyManagerPolicyOptions',
  'memoryThrottlingFactor',
  'memoryReservationPolicy',
  'protectKernelDefaults',
  'makeIPTablesUtilChains',
  'hairpinMode',
  'shutdownGracePeriod',
  'shutdownGracePeriodCriticalPods',
  'shutdownGracePeriodByPodPriority',
]

/** The same for flags that have no field. */
const NOT_YET_HONOURED_FLAGS: readonly (keyof KubeletFlags)[] = [
  'minimumContainerTtlDuration',
  'maximumDeadContainers',
  'experimentalMounterPath',
]

/** Those of them that were set to something else than what they are by themselves. */
export function listNotYetHonoured(given: GivenConfiguration, flags: KubeletFlags): string[] {
  const fields = NOT_YET_HONOURED.filter((name) => !isDeepStrictEqual(given[name], CONFIGURATION.unset[name]))
  const unset = object(FLAG_FIELDS, { about: '' }).unset
  const names = NOT_YET_HONOURED_FLAGS.filter((name) => !isDeepStrictEqual(flags[name], unset[name])).map(
    (name) => `--${FLAG_FIELDS[name].flag?.name ?? name}`,
  )
  return [...fields, ...names]
}
