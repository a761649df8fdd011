/** The KubeletConfiguration of an agent in a lab: standalone, no cluster, nothing outside of the lab's folders and cgroup. */
export function createAgentConfig(options: {
  readonly folder: string
  readonly manifests: string
  readonly endpoint: string
  readonly cgroupRoot: string
  readonly ports: AgentPorts
}): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    staticPodPath: options.manifests,
    containerRuntimeEndpoint: options.endpoint,
    cgroupRoot: options.cgroupRoot,
    cgroupDriver: 'cgroupfs',
    podLogsDir: `${options.folder}/pod-logs`,
    volumePluginDir: `${options.folder}/volume-plugins`,
    address: '127.0.0.1',
    port: options.ports.api,
    readOnlyPort: options.ports.readOnly,
    healthzBindAddress: '127.0.0.1',
    healthzPort: options.ports.healthz,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    failCgroupV1: false,
    failSwapOn: false,
    // Static pods of a test must not wait for a tick of a slow machine's disk gauge or be thrown out by it.
    evictionHard: { 'memory.available': '0%', 'nodefs.available': '0%', 'imagefs.available': '0%' },
    imageGCHighThresholdPercent: 100,
    localStorageCapacityIsolation: false,
    makeIPTablesUtilChains: false,
    maxPods: 250,
    resolvConf: '',
  }
}

/** Ports inside the lab, whose network is its own. */
export interface AgentPorts {
  readonly api: number
  readonly readOnly: number
  readonly healthz: number
}

export const defaultPorts: AgentPorts = { api: 10250, readOnly: 10255, healthz: 10248 }
