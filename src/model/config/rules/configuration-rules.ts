import { findDockerEndpoint } from '../flags/docker-flags.ts'
import type { KubeletFlags } from '../flags/kubelet-flags.ts'
import type { FeatureGate } from '../gates/feature-gate-table.ts'
import type { FeatureGates } from '../gates/feature-gates.ts'
import type { GivenConfiguration, KubeletConfiguration } from '../kubelet-configuration.ts'
import type { Machine } from '../to-effective-configuration.ts'

/** All that a rule may read. */
export interface RuleContext {
  readonly config: KubeletConfiguration
  /** Before defaults that depend on other settings, to distinguish what was set from what was filled in. */
  readonly given: GivenConfiguration
  readonly flags: KubeletFlags
  readonly gates: FeatureGates
  readonly machine: Machine
}

/** A rule between fields: where it is reported, what it expects, and when it is broken. */
export interface ConfigurationRule {
  readonly path: string
  readonly rule: string
  broken(context: RuleContext): boolean
}

const SECOND_MS = 1000

function needsGate(path: string, gate: FeatureGate, isUsed: (given: GivenConfiguration) => boolean): ConfigurationRule {
  return {
    path,
    rule: `expected feature gate ${gate} to be on`,
    broken: ({ given, gates }) => isUsed(given) && !gates.enabled(gate),
  }
}

function needsCgroup(field: 'systemReservedCgroup' | 'kubeReservedCgroup', entry: string): ConfigurationRule {
  return {
    path: field,
    rule: `expected a cgroup, because enforceNodeAllocatable has ${entry}`,
    broken: ({ config }) =>
      config[field] === '' &&
      config.enforceNodeAllocatable.some((name) => name === entry || name === `${entry}-compressible`),
  }
}

function isShort(periodMs: number): boolean {
  return periodMs !== 0 && periodMs < SECOND_MS
}

function hasLogOptions({ options }: GivenConfiguration['logging']): boolean {
  const { text, json } = options
  return [text, json].some((output) => output.splitStream || !['', '0'].includes(output.infoBufferSize))
}

/** The rules that need more than one field, a gate, a flag or the machine. */
export const CONFIGURATION_RULES: readonly ConfigurationRule[] = [
  needsGate('serverTLSBootstrap', 'RotateKubeletServerCertificate', (c) => c.serverTLSBootstrap),
  needsGate('shutdownGracePeriod', 'GracefulNodeShutdown', (c) => c.shutdownGracePeriod !== 0),
  needsGate('shutdownGracePeriodCriticalPods', 'GracefulNodeShutdown', (c) => c.shutdownGracePeriodCriticalPods !== 0),
  needsGate(
    'shutdownGracePeriodByPodPriority',
    'GracefulNodeShutdownBasedOnPodPriority',
    (c) => c.shutdownGracePeriodByPodPriority.length > 0,
  ),
  needsGate('memoryReservationPolicy', 'MemoryQoS', (c) => c.memoryReservationPolicy === 'TieredReservation'),
  needsGate('enableSystemLogQuery', 'NodeLogQuery', (c) => c.enableSystemLogQuery),
  needsGate('logging.format', 'LoggingBetaOptions', (c) => c.logging.format === 'json'),
  needsGate('logging.options', 'LoggingAlphaOptions', (c) => hasLogOptions(c.logging)),
  needsGate(
    'crashLoopBackOff.maxContainerRestartPeriod',
    'KubeletCrashLoopBackOffMax',
    (c) => c.crashLoopBackOff.maxContainerRestartPeriod !== undefined,
  ),
  needsGate(
    'imagePullCredentialsVerificationPolicy',
    'KubeletEnsureSecretPulledImages',
    (c) => c.imagePullCredentialsVerificationPolicy !== undefined,
  ),
  needsGate(
    'topologyManagerPolicyOptions',
    'TopologyManagerPolicyOptions',
    (c) => Object.keys(c.topologyManagerPolicyOptions).length > 0,
  ),
  needsGate(
    'cpuManagerPolicyOptions',
    'CPUManagerPolicyOptions',
    (c) => Object.keys(c.cpuManagerPolicyOptions).length > 0,
  ),
  {
    path: 'cpuCFSQuotaPeriod',
    rule: 'expected 100ms while feature gate CustomCPUCFSQuotaPeriod is off',
    broken: ({ config, gates }) => config.cpuCFSQuotaPeriod !== 100 && !gates.enabled('CustomCPUCFSQuotaPeriod'),
  },
  {
    path: 'preloadedImagesVerificationAllowlist',
    rule: 'expected imagePullCredentialsVerificationPolicy to be NeverVerifyAllowlistedImages',
    broken: ({ config }) =>
      config.preloadedImagesVerificationAllowlist.length > 0 &&
      config.imagePullCredentialsVerificationPolicy !== 'NeverVerifyAllowlistedImages',
  },
  {
    path: 'imageMaximumGCAge',
    rule: 'expected more than imageMinimumGCAge, or 0s',
    broken: ({ config }) => config.imageMaximumGCAge > 0 && config.imageMaximumGCAge <= config.imageMinimumGCAge,
  },
  {
    path: 'imageGCLowThresholdPercent',
    rule: 'expected less than imageGCHighThresholdPercent',
    broken: ({ config }) => config.imageGCLowThresholdPercent >= config.imageGCHighThresholdPercent,
  },
  {
    path: 'systemCgroups',
    rule: 'expected cgroupRoot to be set',
    broken: ({ config }) => config.systemCgroups !== '' && config.cgroupRoot === '',
  },
  {
    path: 'cgroupsPerQOS',
    rule: 'expected true, because enforceNodeAllocatable has an entry other than none',
    broken: ({ config }) => !config.cgroupsPerQOS && config.enforceNodeAllocatable.some((name) => name !== 'none'),
  },
  {
    path: 'maxParallelImagePulls',
    rule: 'expected 1, or serializeImagePulls to be false',
    broken: ({ config }) => config.maxParallelImagePulls > 1 && config.serializeImagePulls,
  },
  needsCgroup('systemReservedCgroup', 'system-reserved'),
  needsCgroup('kubeReservedCgroup', 'kube-reserved'),
  {
    path: 'reservedSystemCPUs',
    rule: 'expected systemReservedCgroup and kubeReservedCgroup to be unset',
    broken: ({ config }) =>
      config.reservedSystemCPUs !== '' && (config.systemReservedCgroup !== '' || config.kubeReservedCgroup !== ''),
  },
  {
    path: 'enableSystemLogQuery',
    rule: 'expected enableSystemLogHandler to be true',
    broken: ({ config }) => config.enableSystemLogQuery && !config.enableSystemLogHandler,
  },
  {
    path: 'shutdownGracePeriod',
    rule: 'expected 0s or at least 1s',
    broken: ({ config }) => isShort(config.shutdownGracePeriod),
  },
  {
    path: 'shutdownGracePeriodCriticalPods',
    rule: 'expected 0s or at least 1s',
    broken: ({ config }) => isShort(config.shutdownGracePeriodCriticalPods),
  },
  {
    path: 'shutdownGracePeriodCriticalPods',
    rule: 'expected at most shutdownGracePeriod',
    broken: ({ config }) => config.shutdownGracePeriodCriticalPods > config.shutdownGracePeriod,
  },
  {
    path: 'shutdownGracePeriodByPodPriority',
    rule: 'expected shutdownGracePeriod and shutdownGracePeriodCriticalPods to be unset',
    broken: ({ config }) =>
      config.shutdownGracePeriodByPodPriority.length > 0 &&
      (config.shutdownGracePeriod !== 0 || config.shutdownGracePeriodCriticalPods !== 0),
  },
  {
    path: 'logging.vmodule',
    rule: 'expected logging.format to be text',
    broken: ({ config }) => config.logging.vmodule.length > 0 && config.logging.format !== 'text',
  },
  {
    path: 'showHiddenMetricsForVersion',
    rule: 'expected 1.35, the release before this one, or nothing',
    broken: ({ config }) => !['', '1.35'].includes(config.showHiddenMetricsForVersion),
  },
  {
    path: 'memorySwap.swapBehavior',
    rule: 'expected a machine with cgroup v2',
    broken: ({ config, machine }) => config.memorySwap.swapBehavior === 'LimitedSwap' && machine.cgroupVersion === 1,
  },
  {
    path: 'singleProcessOOMKill',
    rule: 'expected true on a machine with cgroup v1',
    broken: ({ config, machine }) => !config.singleProcessOOMKill && machine.cgroupVersion === 1,
  },
  {
    path: 'failCgroupV1',
    rule: 'expected a machine with cgroup v2',
    broken: ({ config, machine }) => config.failCgroupV1 && machine.cgroupVersion === 1,
  },
  {
    path: 'authentication.webhook.enabled',
    rule: 'expected --kubeconfig: only an API server can review tokens',
    broken: ({ config, flags }) => config.authentication.webhook.enabled && flags.kubeconfig === '',
  },
  {
    path: 'authorization.mode',
    rule: 'expected --kubeconfig: only an API server can review access',
    broken: ({ given, flags }) => given.authorization.mode === 'Webhook' && flags.kubeconfig === '',
  },
  {
    path: '--exit-on-lock-contention',
    rule: 'expected --lock-file',
    broken: ({ flags }) => flags.exitOnLockContention && flags.lockFile === '',
  },
  {
    path: '--docker-endpoint',
    rule: 'expected the socket of containerRuntimeEndpoint, or only one of both',
    broken: ({ config, flags }) => {
      const asked = findDockerEndpoint(flags)
      return asked !== undefined && asked !== config.containerRuntimeEndpoint
    },
  },
  {
    path: '--etcd-certfile',
    rule: 'expected --etcd-keyfile too, or neither',
    broken: ({ flags }) => (flags.etcdCertfile === '') !== (flags.etcdKeyfile === ''),
  },
  {
    path: '--etcd-username',
    rule: 'expected --etcd-password-file too, or neither',
    broken: ({ flags }) => (flags.etcdUsername === '') !== (flags.etcdPasswordFile === ''),
  },
  {
    path: '--etcd-servers',
    rule: 'expected servers, because other flags of etcd are given',
    broken: ({ flags }) =>
      flags.etcdServers.length === 0 &&
      [flags.etcdPrefix, flags.etcdCafile, flags.etcdCertfile, flags.etcdUsername].some((value) => value !== ''),
  },
]
