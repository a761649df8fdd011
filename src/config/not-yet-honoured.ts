import { isDeepStrictEqual } from 'node:util'
import { DEFAULT_EVICTION_HARD } from './rules/eviction-rules.ts'
import { CONFIGURATION, type GivenConfiguration } from './kubelet-configuration.ts'

/**
 * Fields of features that are not there yet. They are read, checked and kept; whoever sets one is told at the start that nothing
 * follows from it so far. A feature that arrives takes its fields off this list.
 */
const NOT_YET_HONOURED: readonly (keyof GivenConfiguration)[] = [
  // The API on port 10250.
  'tlsCertFile',
  'tlsPrivateKeyFile',
  'tlsCipherSuites',
  'tlsCurvePreferences',
  'tlsMinVersion',
  'enableDebuggingHandlers',
  'enableContentionProfiling',
  'enableSystemLogHandler',
  'enableSystemLogQuery',
  'enableProfilingHandler',
  'enableDebugFlagsHandler',
  'showHiddenMetricsForVersion',
  'tracing',
  // Membership in a cluster.
  'rotateCertificates',
  'serverTLSBootstrap',
  'eventRecordQPS',
  'eventBurst',
  'nodeStatusUpdateFrequency',
  'nodeStatusReportFrequency',
  'nodeLeaseDurationSeconds',
  'nodeStatusMaxImages',
  'contentType',
  'kubeAPIQPS',
  'kubeAPIBurst',
  'registerNode',
  'registerWithTaints',
  'providerID',
  'podCIDR',
  'maxPods',
  'podsPerCore',
  'configMapAndSecretChangeDetectionStrategy',
  'enableControllerAttachDetach',
  // Volumes.
  'volumePluginDir',
  'volumeStatsAggPeriod',
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
  'evictionHard',
  'evictionSoft',
  'evictionSoftGracePeriod',
  'evictionPressureTransitionPeriod',
  'evictionMaxPodGracePeriod',
  'evictionMinimumReclaim',
  'mergeDefaultEvictionSettings',
  'kernelMemcgNotification',
  'memoryThrottlingFactor',
  'memoryReservationPolicy',
  'localStorageCapacityIsolation',
  'protectKernelDefaults',
  'makeIPTablesUtilChains',
  'hairpinMode',
  'allowedUnsafeSysctls',
  'shutdownGracePeriod',
  'shutdownGracePeriodCriticalPods',
  'shutdownGracePeriodByPodPriority',
  'userNamespaces',
]

/** Those of them that were set to something else than what they are by themselves. */
export function listNotYetHonoured(given: GivenConfiguration): string[] {
  const usual = { ...CONFIGURATION.unset, evictionHard: DEFAULT_EVICTION_HARD }
  return NOT_YET_HONOURED.filter(
    (name) => ![usual[name], CONFIGURATION.unset[name]].some((value) => isDeepStrictEqual(given[name], value)),
  )
}
