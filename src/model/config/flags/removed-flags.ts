interface RemovedFlag {
  /** The release that no longer knew it, where that is certain. */
  readonly since?: string
  readonly instead: string
}

const network: RemovedFlag = {
  since: '1.24',
  instead: "set the network up in the container runtime's CNI configuration",
}
const docker: RemovedFlag = { since: '1.24', instead: 'use a CRI runtime with containerRuntimeEndpoint' }
const klog: RemovedFlag = {
  since: '1.26',
  instead: 'the log goes to stderr: redirect it, or set logging in the configuration file',
}
const none: RemovedFlag = { instead: 'leave it out: nothing takes its place' }
const credentials: RemovedFlag = {
  instead: 'use --image-credential-provider-config and --image-credential-provider-bin-dir',
}

/** Flags of earlier releases that unit files still have, and what to do instead. */
const REMOVED_FLAGS: Readonly<Record<string, RemovedFlag>> = {
  'network-plugin': network,
  'network-plugin-mtu': network,
  'cni-bin-dir': network,
  'cni-conf-dir': network,
  'cni-cache-dir': network,
  'docker-endpoint': docker,
  'image-pull-progress-deadline': docker,
  'container-runtime': {
    since: '1.27',
    instead: 'leave it out: every runtime is a CRI runtime, at containerRuntimeEndpoint',
  },
  'pod-infra-container-image': {
    since: '1.35',
    instead: "set the sandbox image in the container runtime's configuration",
  },
  'dynamic-config-dir': { since: '1.24', instead: 'use --config and --config-dir' },
  'register-schedulable': { instead: 'use registerWithTaints' },
  'keep-terminated-pod-volumes': { since: '1.31', instead: none.instead },
  'master-service-namespace': { since: '1.27', instead: none.instead },
  'seccomp-profile-root': { instead: 'put profiles in the folder "seccomp" of --root-dir' },
  'enable-cadvisor-json-endpoints': { instead: 'use /stats/summary or /metrics/cadvisor' },
  'cadvisor-port': { since: '1.12', instead: 'use /stats/summary or /metrics/cadvisor' },
  'cloud-config': { instead: 'use --cloud-provider=external and configure the cloud controller' },
  'azure-container-registry-config': credentials,
  'redirect-container-streaming': none,
  'iptables-masquerade-bit': none,
  'iptables-drop-bit': none,
  'non-masquerade-cidr': network,
  'allow-privileged': { since: '1.15', instead: 'use Pod Security admission' },
  containerized: none,
  'require-kubeconfig': { instead: 'use --kubeconfig' },
  'api-servers': { instead: 'use --kubeconfig' },
  'bootstrap-checkpoint-path': none,
  'chaos-chance': none,
  'really-crash-for-testing': none,
  logtostderr: klog,
  alsologtostderr: klog,
  'log-dir': klog,
  'log-file': klog,
  'log-file-max-size': klog,
  'log-backtrace-at': klog,
  'one-output': klog,
  'add-dir-header': klog,
  'skip-headers': klog,
  'skip-log-headers': klog,
  stderrthreshold: klog,
}

/** Why a flag is refused and what to do, when an earlier release knew it. */
export function explainRemovedFlag(name: string): string | undefined {
  const known = Object.hasOwn(REMOVED_FLAGS, name) ? REMOVED_FLAGS[name] : undefined
  const removed = known ?? (name.startsWith('docker-') ? docker : name.startsWith('experimental-') ? none : undefined)
  if (removed === undefined) return undefined
  const when =
    removed.since === undefined ? 'was removed from the kubelet' : `was removed in Kubernetes ${removed.since}`
  return `--${name} ${when}: ${removed.instead}`
}
