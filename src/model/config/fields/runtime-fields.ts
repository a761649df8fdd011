import { object, optionalObject, textList, textMap } from '../kinds/collection-kinds.ts'
import { bool, choice, duration, float, int32, int64, path, text } from '../kinds/scalar-kinds.ts'
import { findQosReservationProblem, findSysctlProblem } from '../rules/resource-rules.ts'

const IDS_PER_BLOCK = 65_536

function findIdCountProblem(value: number): string | undefined {
  const holds = value >= IDS_PER_BLOCK && value % IDS_PER_BLOCK === 0 && value <= 2 ** 32 - 1
  return holds ? undefined : 'expected a multiple of 65536 from 65536 to 4294967295'
}

/** The container runtime and how containers run in it. */
export const runtimeFields = {
  containerRuntimeEndpoint: text({
    default: 'unix:///run/containerd/containerd.sock',
    flag: 'container-runtime-endpoint',
    about: 'socket of the container runtime',
    rule: (value) => (value === '' ? 'expected a socket such as unix:///run/containerd/containerd.sock' : undefined),
  }),
  imageServiceEndpoint: text({
    default: '',
    flag: 'image-service-endpoint',
    about: 'socket for images, when it is not that of the runtime',
  }),
  runtimeRequestTimeout: duration({
    default: '2m',
    flag: 'runtime-request-timeout',
    about: 'time that a call to the runtime may take',
  }),
  cgroupDriver: choice(['cgroupfs', 'systemd'], {
    default: 'cgroupfs',
    flag: 'cgroup-driver',
    about: 'who manages cgroups, when the runtime does not say',
  }),
  cgroupRoot: text({ default: '', flag: 'cgroup-root', about: 'cgroup above the cgroups of pods' }),
  cgroupsPerQOS: bool({
    default: true,
    keepsZero: true,
    flag: 'cgroups-per-qos',
    about: 'give each QoS class and pod a cgroup of its own',
  }),
  failCgroupV1: bool({
    default: false,
    keepsZero: true,
    flag: 'fail-cgroupv1',
    flagStays: true,
    about: 'refuse to start on a machine with cgroup v1',
  }),
  cpuCFSQuota: bool({ default: true, keepsZero: true, flag: 'cpu-cfs-quota', about: 'enforce CPU limits' }),
  cpuCFSQuotaPeriod: duration({
    default: '100ms',
    keepsZero: true,
    min: '1ms',
    max: '1s',
    flag: 'cpu-cfs-quota-period',
    about: 'period of the CPU quota',
  }),
  podPidsLimit: int64({
    default: -1,
    keepsZero: true,
    flag: 'pod-max-pids',
    about: 'processes that a pod may have; below 0 is no limit of its own',
  }),
  singleProcessOOMKill: bool({
    default: undefined,
    keepsZero: true,
    about: 'let the kernel kill one process of a container out of memory instead of all',
  }),
  memorySwap: object(
    {
      swapBehavior: choice(['', 'NoSwap', 'LimitedSwap'], { default: '', about: 'how much swap containers may use' }),
    },
    { about: 'swap of containers' },
  ),
  memoryThrottlingFactor: float({
    default: 0.9,
    keepsZero: true,
    about: 'share of the memory limit from which on a container is slowed down',
    rule: (value) => (value > 0 && value <= 1 ? undefined : 'expected more than 0 and at most 1'),
  }),
  memoryReservationPolicy: choice(['None', 'TieredReservation'], {
    default: 'None',
    about: 'protect the memory that containers request',
  }),
  qosReserved: textMap({
    default: {},
    flag: 'qos-reserved',
    about: 'share of memory kept for pods of a higher QoS class, as memory=50%',
    entry: findQosReservationProblem,
  }),
  seccompDefault: bool({
    default: false,
    keepsZero: true,
    about: 'use RuntimeDefault for pods without a seccomp profile',
  }),
  allowedUnsafeSysctls: textList({
    default: [],
    flag: 'allowed-unsafe-sysctls',
    about: 'unsafe sysctls that pods may set; a name or prefix*',
    item: findSysctlProblem,
  }),
  userNamespaces: optionalObject(
    {
      idsPerPod: int64({ default: 65_536, keepsZero: true, rule: findIdCountProblem, about: 'user ids for each pod' }),
    },
    { about: 'pods with user namespaces' },
  ),
  crashLoopBackOff: object(
    {
      maxContainerRestartPeriod: duration({
        default: undefined,
        keepsZero: true,
        min: '1s',
        max: '5m',
        about: 'longest wait before a crashed container starts again',
      }),
    },
    { about: 'waits before restarts' },
  ),
  hairpinMode: choice(['promiscuous-bridge', 'hairpin-veth', 'none'], {
    default: 'promiscuous-bridge',
    flag: 'hairpin-mode',
    about:
      'how a pod reaches itself through a Service: for pods on the bridge of Docker, unless "none"; else left to the network plugin',
  }),
  makeIPTablesUtilChains: bool({
    default: true,
    keepsZero: true,
    flag: 'make-iptables-util-chains',
    about: 'make the iptables chain that shows other tools which iptables is in use',
  }),
  iptablesMasqueradeBit: int32({ default: 14, keepsZero: true, min: 0, max: 31, about: 'without effect' }),
  iptablesDropBit: int32({ default: 15, keepsZero: true, min: 0, max: 31, about: 'without effect' }),
  podCIDR: text({ default: '', flag: 'pod-cidr', about: 'addresses of pods on a node without API server' }),
  clusterDomain: text({ default: '', flag: 'cluster-domain', about: 'DNS suffix of the cluster' }),
  clusterDNS: textList({ default: [], flag: 'cluster-dns', about: 'addresses of the DNS servers for pods' }),
  resolvConf: path({
    default: '/etc/resolv.conf',
    keepsZero: true,
    flag: 'resolv-conf',
    about: 'resolver file that pods build on; empty for none',
  }),
  volumePluginDir: path({
    default: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
    flag: 'volume-plugin-dir',
    about: 'folder of flexvolume plugins',
  }),
}
