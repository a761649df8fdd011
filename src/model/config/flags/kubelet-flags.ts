import { textList, textMap } from '../kinds/collection-kinds.ts'
import type { Decoded, Fields } from '../kinds/field.ts'
import { bool, duration, int32, text } from '../kinds/scalar-kinds.ts'
import { findNodeLabelProblem } from '../rules/node-label-rules.ts'
import { dockerFlags } from './docker-flags.ts'
import { versionFlag } from './version-flag.ts'

const fileFlags = {
  config: text({
    default: '',
    flag: 'config',
    flagStays: true,
    about: 'file with the configuration (KubeletConfiguration, YAML or JSON)',
  }),
  configDir: text({
    default: '',
    flag: 'config-dir',
    flagStays: true,
    about: 'folder with *.conf files that are merged over it',
  }),
  rootDir: text({
    default: '/var/lib/kubelet',
    flag: 'root-dir',
    flagStays: true,
    about: 'folder for volumes and other state',
    rule: (value) => (value === '' ? 'expected a folder' : undefined),
  }),
  certDir: text({
    default: '/var/lib/kubelet/pki',
    flag: 'cert-dir',
    flagStays: true,
    about: 'folder for certificates that we make or renew',
  }),
  lockFile: text({ default: '', flag: 'lock-file', flagStays: true, about: 'file that is locked while we run' }),
  exitOnLockContention: bool({
    default: false,
    flag: 'exit-on-lock-contention',
    flagStays: true,
    about: 'exit when another process opens the lock file',
  }),
  help: bool({ default: false, flag: 'help', shortFlag: 'h', flagStays: true, about: 'show this text' }),
  version: versionFlag,
}

const apiServerFlags = {
  kubeconfig: text({
    default: '',
    flag: 'kubeconfig',
    flagStays: true,
    about: 'how to reach the API server; without it the node stands alone',
  }),
  bootstrapKubeconfig: text({
    default: '',
    flag: 'bootstrap-kubeconfig',
    flagStays: true,
    about: 'how to get the first client certificate, when the file of --kubeconfig does not exist',
  }),
  hostnameOverride: text({
    default: '',
    flag: 'hostname-override',
    flagStays: true,
    about: 'name of the node; the host name when empty',
  }),
  nodeIp: text({
    default: '',
    flag: 'node-ip',
    flagStays: true,
    about: 'address of the node, or two, one of each family',
  }),
  nodeLabels: textMap({
    default: {},
    flag: 'node-labels',
    flagStays: true,
    about: 'labels of the node, as key=value,…',
    entry: findNodeLabelProblem,
  }),
  cloudProvider: text({
    default: '',
    flag: 'cloud-provider',
    flagStays: true,
    about: '"external" when a cloud controller sets up the node',
    rule: (value) =>
      value === '' || value === 'external'
        ? undefined
        : 'expected nothing or "external": providers in the kubelet were removed in Kubernetes 1.31, use "external" and the cloud controller of your provider',
  }),
}

const etcdFlags = {
  etcdServers: textList({
    default: [],
    flag: 'etcd-servers',
    flagStays: true,
    about: 'members of an etcd cluster that has pods for this node, as http://host:port or https://host:port',
    item: (value) =>
      /^https?:\/\/[^/]+\/?$/.test(value) && URL.canParse(value)
        ? undefined
        : 'expected http://host:port or https://host:port',
  }),
  etcdPrefix: text({
    default: '',
    flag: 'etcd-prefix',
    flagStays: true,
    about: 'key of the pods, or of the folder that they are in; /registry/nodes/NODE/boundpods when empty',
    rule: (value) => (value.endsWith('/') ? 'expected a key without "/" at its end' : undefined),
  }),
  etcdCafile: text({
    default: '',
    flag: 'etcd-cafile',
    flagStays: true,
    about: "authority of etcd's certificate; those of the system when empty",
  }),
  etcdCertfile: text({ default: '', flag: 'etcd-certfile', flagStays: true, about: 'client certificate for etcd' }),
  etcdKeyfile: text({ default: '', flag: 'etcd-keyfile', flagStays: true, about: 'key of that certificate' }),
  etcdUsername: text({ default: '', flag: 'etcd-username', flagStays: true, about: 'user of etcd' }),
  etcdPasswordFile: text({
    default: '',
    flag: 'etcd-password-file',
    flagStays: true,
    about: 'file with the password of that user',
  }),
}

const runtimeFlags = {
  runtimeCgroups: text({
    default: '',
    flag: 'runtime-cgroups',
    flagStays: true,
    about: 'cgroup of the container runtime',
  }),
  seccompDefault: bool({
    default: false,
    flag: 'seccomp-default',
    flagStays: true,
    about: 'use RuntimeDefault for pods without a seccomp profile',
  }),
  imageCredentialProviderConfig: text({
    default: '',
    flag: 'image-credential-provider-config',
    flagStays: true,
    about: 'file or folder that names the credential plugins for registries',
  }),
  imageCredentialProviderBinDir: text({
    default: '',
    flag: 'image-credential-provider-bin-dir',
    flagStays: true,
    about: 'folder of the credential plugins',
  }),
  minimumContainerTtlDuration: duration({
    default: '0s',
    keepsZero: true,
    flag: 'minimum-container-ttl-duration',
    about: 'time that a dead container stays at least',
  }),
  maximumDeadContainersPerContainer: int32({
    default: 1,
    keepsZero: true,
    flag: 'maximum-dead-containers-per-container',
    about: 'dead instances kept of a container',
  }),
  maximumDeadContainers: int32({
    default: -1,
    keepsZero: true,
    flag: 'maximum-dead-containers',
    about: 'dead containers kept on the node; below 0 is no limit',
  }),
  experimentalMounterPath: text({
    default: '',
    flag: 'experimental-mounter-path',
    about: 'program that mounts in place of mount(8)',
  }),
  experimentalAllocatableIgnoreEviction: bool({
    default: false,
    flag: 'experimental-allocatable-ignore-eviction',
    about: 'leave the hard eviction thresholds out of what pods may use',
  }),
}

// Those of the metrics collector that still mean something here.
const machineFlags = {
  bootIdFile: text({
    default: '/proc/sys/kernel/random/boot_id',
    flag: 'boot-id-file',
    about: 'files with the boot id; the first that exists',
  }),
  machineIdFile: text({
    default: '/etc/machine-id,/var/lib/dbus/machine-id',
    flag: 'machine-id-file',
    about: 'files with the machine id; the first that exists',
  }),
  housekeepingInterval: duration({
    default: '10s',
    keepsZero: true,
    flag: 'housekeeping-interval',
    flagStays: true,
    about: 'time between two measurements of containers',
  }),
}

/** The flags that are not fields of the configuration, in the groups of --help. */
export const FLAG_GROUPS: readonly (readonly [title: string, fields: Fields])[] = [
  ['Files and commands', fileFlags],
  ['API server and node', apiServerFlags],
  ['Pods from etcd', etcdFlags],
  ['Runtime', runtimeFlags],
  ['Pods on Docker', dockerFlags],
  ['Deprecated: cAdvisor', machineFlags],
]

export const FLAG_FIELDS = {
  ...fileFlags,
  ...apiServerFlags,
  ...etcdFlags,
  ...runtimeFlags,
  ...dockerFlags,
  ...machineFlags,
}

/** The value of every flag that is not a field of the configuration. */
export type KubeletFlags = Omit<Decoded<typeof FLAG_FIELDS>, 'help' | 'version'>
