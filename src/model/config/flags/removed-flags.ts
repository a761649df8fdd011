/** What an old flag is answered with: the release that no longer knew it, and what takes its place. */
type RemovedFlag = readonly [since: string, instead: string]

const NOTHING = 'leave it out: nothing takes its place'
const NETWORK = "set the network up in the container runtime's CNI configuration"
const RUNTIME = 'use containerRuntimeEndpoint, which names the socket of the runtime'
const LOG = 'leave it out: the log goes to stderr; redirect it, or set logging in the configuration file'
const USAGE = 'leave it out: read /stats/summary or /metrics/cadvisor'
const CREDENTIALS = 'use --image-credential-provider-config and --image-credential-provider-bin-dir'
const POD_SECURITY = 'leave it out: Pod Security admission of the API server says what pods may do'
const RKT = 'rkt is not supported: use a CRI runtime with containerRuntimeEndpoint'
const INIT_SYSTEM = "leave it out: the machine's init system keeps the container runtime running"
const ETCD = 'use --etcd-servers, and --etcd-cafile, --etcd-certfile and --etcd-keyfile for TLS'
const NO_CHECKPOINTS = 'leave it out: there is no folder of checkpoints'
const NO_CADVISOR = 'leave it out: it was for cAdvisor, and stats come from the runtime and its cgroups'

/**
 * The flags that an earlier kubelet had, from 0.5 on, and that this one has not, with the release in which each went. Those of
 * docker-flags.ts are among them: they are flags again, but for Docker alone.
 */
const REMOVED_FLAGS: Readonly<Record<string, RemovedFlag>> = {
  // Docker, network and sandboxes
  'docker-endpoint': ['1.24', RUNTIME],
  'network-container-image': ['0.10', "set the sandbox image in the container runtime's configuration"],
  'pod-infra-container-image': ['1.35', "set the sandbox image in the container runtime's configuration"],
  'image-pull-progress-deadline': ['1.24', 'leave it out: a pull without progress ends at the deadline of the runtime'],
  'network-plugin': ['1.24', NETWORK],
  'network-plugin-dir': ['1.9', NETWORK],
  'network-plugin-mtu': ['1.24', NETWORK],
  'cni-conf-dir': ['1.24', NETWORK],
  'cni-bin-dir': ['1.24', NETWORK],
  'cni-cache-dir': ['1.24', NETWORK],
  'non-masquerade-cidr': ['1.24', `${NETWORK}; ip-masq-agent excepts addresses from masquerading`],
  'experimental-dockershim': ['1.19', RUNTIME],
  'experimental-dockershim-root-directory': ['1.24', NO_CHECKPOINTS],
  'docker-disable-shared-pid': ['1.12', 'set shareProcessNamespace in the spec of a pod'],
  'docker-exec-handler': ['1.9', 'leave it out: the runtime runs commands in containers'],
  'docker-daemon-container': ['0.19', 'use --runtime-cgroups'],
  'redirect-container-streaming': ['1.22', 'leave it out: streams always go through the kubelet'],
  'container-runtime': ['1.27', 'leave it out: every runtime is a CRI runtime, at containerRuntimeEndpoint'],
  'rkt-path': ['1.11', RKT],
  'rkt-api-endpoint': ['1.11', RKT],
  'rkt-stage1-image': ['1.11', RKT],
  'experimental-cri': ['1.7', 'leave it out: runtimes are always used through CRI'],
  'enable-cri': ['1.7', 'leave it out: runtimes are always used through CRI'],
  docker: ['1.24', NO_CADVISOR],
  'docker-only': ['1.24', NO_CADVISOR],
  'docker-root': ['1.24', NO_CADVISOR],
  'docker-env-metadata-whitelist': ['1.24', NO_CADVISOR],
  'docker-tls': ['1.24', RUNTIME],
  'docker-tls-ca': ['1.24', RUNTIME],
  'docker-tls-cert': ['1.24', RUNTIME],
  'docker-tls-key': ['1.24', RUNTIME],
  containerized: ['1.16', "run the kubelet on the machine itself: it needs the machine's own mounts"],
  'configure-cbr0': ['1.5', NETWORK],
  'reconcile-cidr': ['1.6', NETWORK],
  'experimental-flannel-overlay': ['1.5', NETWORK],
  'babysit-daemons': ['1.7', INIT_SYSTEM],

  // Sources of pods, and the way to the control plane
  'etcd-config': ['0.13', ETCD],
  'api-servers': ['1.8', 'use --kubeconfig'],
  'auth-path': ['1.6', 'use --kubeconfig, which has the credentials too'],
  'require-kubeconfig': ['1.10', 'leave it out: --kubeconfig is enough'],
  'experimental-bootstrap-kubeconfig': ['1.23', 'use --bootstrap-kubeconfig'],
  'init-config-dir': ['1.10', 'use --config'],
  'dynamic-config-dir': ['1.24', 'use --config and --config-dir'],
  'bootstrap-checkpoint-path': ['1.19', 'use static pods (staticPodPath), which run without an API server'],
  'master-service-namespace': ['1.27', 'leave it out: pods see the Services of "default" and of their own namespace'],
  'register-schedulable': [
    '1.34',
    'use --register-with-taints=node.kubernetes.io/unschedulable:NoSchedule in place of "false", and leave "true" out',
  ],
  'cloud-config': ['1.34', 'use --cloud-provider=external and configure the cloud controller'],

  // What pods may do
  'allow-privileged': ['1.15', POD_SECURITY],
  'host-network-sources': ['1.15', POD_SECURITY],
  'host-pid-sources': ['1.15', POD_SECURITY],
  'host-ipc-sources': ['1.15', POD_SECURITY],
  'seccomp-profile-root': ['1.23', 'put profiles in the folder "seccomp" of --root-dir'],
  'experimental-allowed-unsafe-sysctls': ['1.11', 'use --allowed-unsafe-sysctls'],
  'azure-container-registry-config': ['1.30', CREDENTIALS],
  'google-json-key': ['1.13', CREDENTIALS],

  // Resources of the node
  'resource-container': ['1.6', 'use --kubelet-cgroups'],
  'system-container': ['1.6', 'use --system-cgroups'],
  'experimental-cgroups-per-qos': ['1.6', 'use --cgroups-per-qos'],
  'experimental-qos-reserved': ['1.11', 'use --qos-reserved'],
  'experimental-fail-swap-on': ['1.14', 'use --fail-swap-on'],
  'experimental-kernel-memcg-notification': ['1.25', 'use --kernel-memcg-notification'],
  'experimental-nvidia-gpus': ['1.6', 'use a device plugin'],
  'experimental-check-node-capabilities-before-mount': ['1.24', 'leave it out: CSI drivers say what they can'],
  'low-diskspace-threshold-mb': ['1.8', 'use --eviction-hard=nodefs.available<…Mi'],
  'outofdisk-transition-frequency': ['1.8', 'use --eviction-pressure-transition-period'],
  'keep-terminated-pod-volumes': ['1.31', 'leave it out: volumes of ended pods are always unmounted'],
  'iptables-masquerade-bit': ['1.31', 'leave it out: the rules belong to kube-proxy'],
  'iptables-drop-bit': ['1.31', 'leave it out: the rules belong to kube-proxy'],

  // Metrics, logs, tests
  'cadvisor-port': ['1.12', USAGE],
  'enable-cadvisor-json-endpoints': ['1.21', USAGE],
  'enable-custom-metrics': ['1.11', NOTHING],
  alsologtostderr: ['1.26', LOG],
  'log-backtrace-at': ['1.26', LOG],
  'log-dir': ['1.26', LOG],
  logtostderr: ['1.26', LOG],
  stderrthreshold: ['1.26', LOG],
  'log-file': ['1.26', LOG],
  'log-file-max-size': ['1.26', LOG],
  'skip-headers': ['1.26', LOG],
  'skip-log-headers': ['1.26', LOG],
  'add-dir-header': ['1.26', LOG],
  'one-output': ['1.26', LOG],
  'experimental-logging-sanitization': ['1.24', NOTHING],
  'chaos-chance': ['1.22', NOTHING],
  'really-crash-for-testing': ['1.24', NOTHING],
}

/** Flags of other components that are given to a kubelet now and then. */
const FOREIGN_FLAGS: Readonly<Record<string, string>> = {
  'tls-ca-file': 'use --client-ca-file for the authority of client certificates',
}

/** Why a flag is refused and what to do, when an earlier release or another component knows it. */
export function explainRemovedFlag(name: string): string | undefined {
  const row = Object.hasOwn(REMOVED_FLAGS, name) ? REMOVED_FLAGS[name] : undefined
  if (row !== undefined) return `--${name} was removed in Kubernetes ${row[0]}: ${row[1]}`
  const instead = Object.hasOwn(FOREIGN_FLAGS, name) ? FOREIGN_FLAGS[name] : undefined
  return instead && `--${name} is no flag of the kubelet: ${instead}`
}
