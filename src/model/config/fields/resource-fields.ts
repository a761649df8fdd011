import type { Json } from '../files/json-value.ts'
import { mapOf, objectList, textList, textMap } from '../kinds/collection-kinds.ts'
import { parsePairs } from '../kinds/flag-forms.ts'
import { bool, choice, duration, int32, int64, text } from '../kinds/scalar-kinds.ts'
import { findGracePeriodProblem, findReclaimProblem, findThresholdProblem } from '../rules/eviction-rules.ts'
import {
  findCpuPolicyOptionProblem,
  findMemoryLimitProblem,
  findReservationProblem,
  findTopologyOptionProblem,
} from '../rules/resource-rules.ts'
import { parseGoBool } from '../values/go-scalars.ts'
import { parseReservedMemory } from './list-flags.ts'

const ENFORCEABLE = [
  'none',
  'pods',
  'system-reserved',
  'system-reserved-compressible',
  'kube-reserved',
  'kube-reserved-compressible',
]

function findEnforcementProblem(value: string, list: readonly string[]): string | undefined {
  if (!ENFORCEABLE.includes(value)) return `expected one of ${ENFORCEABLE.join(', ')}`
  if (list.indexOf(value) !== list.lastIndexOf(value)) return 'expected each entry once'
  if (value === 'none' && list.length > 1) return 'expected none to be the only entry'
  return list.includes(`${value}-compressible`) ? `expected ${value} or ${value}-compressible, not both` : undefined
}

const readBool = (raw: Json) => (typeof raw === 'boolean' ? raw : undefined)

function parseGates(
  texts: readonly string[],
  current: Readonly<Record<string, boolean>>,
): Readonly<Record<string, boolean>> {
  const pairs = texts.flatMap((text) => parsePairs(text, { separator: '=' }))
  return { ...current, ...Object.fromEntries(pairs.map(([name, value]) => [name, parseGoBool(value)])) }
}

/** How the machine is shared out, and what happens when it runs short. */
export const resourceFields = {
  maxPods: int32({ default: 110, min: 0, flag: 'max-pods', about: 'pods that the node takes' }),
  podsPerCore: int32({
    default: 0,
    min: 0,
    flag: 'pods-per-core',
    about: 'pods for each CPU core; 0 is no limit of its own',
  }),
  evictionHard: textMap({
    default: undefined,
    flag: 'eviction-hard',
    about: 'thresholds that evict at once, as memory.available<1Gi,…',
    pairs: { separator: '<' },
    entry: findThresholdProblem,
  }),
  evictionSoft: textMap({
    default: {},
    flag: 'eviction-soft',
    about: 'thresholds that evict after their grace period, as memory.available<1.5Gi,…',
    pairs: { separator: '<' },
    entry: findThresholdProblem,
  }),
  evictionSoftGracePeriod: textMap({
    default: {},
    flag: 'eviction-soft-grace-period',
    about: 'how long a soft threshold must hold, as memory.available=1m30s,…',
    entry: findGracePeriodProblem,
  }),
  evictionMinimumReclaim: textMap({
    default: {},
    flag: 'eviction-minimum-reclaim',
    about: 'what an eviction wins back at least, as imagefs.available=2Gi,…',
    entry: findReclaimProblem,
  }),
  evictionMaxPodGracePeriod: int32({
    default: 0,
    flag: 'eviction-max-pod-grace-period',
    about: 'most seconds that a pod gets to stop in a soft eviction',
  }),
  evictionPressureTransitionPeriod: duration({
    default: '5m',
    flag: 'eviction-pressure-transition-period',
    about: 'time until a pressure condition is taken back',
  }),
  mergeDefaultEvictionSettings: bool({
    default: false,
    keepsZero: true,
    about: 'keep the default hard thresholds of signals that the file does not name',
  }),
  kernelMemcgNotification: bool({
    default: false,
    flag: 'kernel-memcg-notification',
    about: 'let the kernel report when memory is short',
  }),
  localStorageCapacityIsolation: bool({
    default: true,
    keepsZero: true,
    flag: 'local-storage-capacity-isolation',
    about: 'account for local ephemeral storage',
  }),
  systemReserved: textMap({
    default: {},
    flag: 'system-reserved',
    about: 'kept back for the system, as cpu=200m,memory=500Mi,…',
    entry: findReservationProblem,
  }),
  kubeReserved: textMap({
    default: {},
    flag: 'kube-reserved',
    about: "kept back for Kubernetes' own processes, as cpu=200m,memory=500Mi,…",
    entry: findReservationProblem,
  }),
  systemReservedCgroup: text({ default: '', flag: 'system-reserved-cgroup', about: 'cgroup of the system' }),
  kubeReservedCgroup: text({ default: '', flag: 'kube-reserved-cgroup', about: "cgroup of Kubernetes' own processes" }),
  enforceNodeAllocatable: textList({
    default: ['pods'],
    flag: 'enforce-node-allocatable',
    about: 'which reservations are enforced by cgroups',
    item: findEnforcementProblem,
  }),
  reservedSystemCPUs: text({ default: '', flag: 'reserved-cpus', about: 'CPUs kept from pods, as 0-1,4' }),
  reservedMemory: objectList(
    {
      numaNode: int32({ default: 0, min: 0, about: 'NUMA node' }),
      limits: textMap({
        default: {},
        about: 'memory kept back on it',
        entry: findMemoryLimitProblem,
        takesNumbers: true,
      }),
    },
    {
      default: [],
      flag: 'reserved-memory',
      flagType: 'reserved-memory',
      parseFlag: parseReservedMemory,
      about: 'memory kept back on each NUMA node, as 0:memory=1Gi;1:memory=2Gi',
    },
  ),
  kubeletCgroups: text({ default: '', flag: 'kubelet-cgroups', about: 'cgroup of this process' }),
  systemCgroups: text({
    default: '',
    flag: 'system-cgroups',
    about: 'cgroup for processes of the system that are in none',
  }),
  cpuManagerPolicy: choice(['none', 'static'], {
    default: 'none',
    flag: 'cpu-manager-policy',
    about: 'give containers CPUs of their own',
  }),
  cpuManagerPolicyOptions: textMap({
    default: {},
    flag: 'cpu-manager-policy-options',
    about: 'options of the static CPU policy, one key=value for each use',
    pairs: { separator: '=', onePair: true },
    entry: findCpuPolicyOptionProblem,
  }),
  cpuManagerReconcilePeriod: duration({
    default: '10s',
    flag: 'cpu-manager-reconcile-period',
    about: 'time between two checks of CPU assignments',
  }),
  memoryManagerPolicy: choice(['None', 'Static'], {
    default: 'None',
    flag: 'memory-manager-policy',
    about: 'give containers memory of one NUMA node',
  }),
  topologyManagerPolicy: choice(['none', 'best-effort', 'restricted', 'single-numa-node'], {
    default: 'none',
    flag: 'topology-manager-policy',
    about: 'how strictly resources of a container must be near each other',
  }),
  topologyManagerScope: choice(['container', 'pod'], {
    default: 'container',
    flag: 'topology-manager-scope',
    about: 'what must be near each other',
  }),
  topologyManagerPolicyOptions: textMap({
    default: {},
    flag: 'topology-manager-policy-options',
    about: 'options of the topology policies, as key=value,…',
    entry: findTopologyOptionProblem,
  }),
  failSwapOn: bool({
    default: true,
    keepsZero: true,
    flag: 'fail-swap-on',
    about: 'refuse to start on a machine with swap',
  }),
  protectKernelDefaults: bool({
    default: false,
    flag: 'protect-kernel-defaults',
    about: 'refuse to start when kernel settings are not as needed, instead of setting them',
  }),
  maxOpenFiles: int64({
    default: 1_000_000,
    min: 0,
    flag: 'max-open-files',
    about: 'files that this process may have open',
  }),
  oomScoreAdj: int32({
    default: -999,
    keepsZero: true,
    min: -1000,
    max: 1000,
    flag: 'oom-score-adj',
    about: 'OOM score of this process',
  }),
  shutdownGracePeriod: duration({ default: '0s', about: 'time that pods get when the machine shuts down' }),
  shutdownGracePeriodCriticalPods: duration({ default: '0s', about: 'the part of it that is for critical pods' }),
  shutdownGracePeriodByPodPriority: objectList(
    {
      priority: int32({ default: 0, about: 'least priority of the pods' }),
      shutdownGracePeriodSeconds: int64({ default: 0, about: 'seconds that they get' }),
    },
    { default: [], about: 'time that pods get when the machine shuts down, by priority' },
  ),
  featureGates: mapOf(
    { type: 'mapStringBool', expected: 'expected true or false', read: readBool, write: (value: boolean) => value },
    { default: {}, flag: 'feature-gates', about: 'features switched on or off, as Name=true,…', parseFlag: parseGates },
  ),
}
