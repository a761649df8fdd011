import type { NodeRecord } from './node-record.ts'
import type { NodeLayout } from './node-layout.ts'

/** The KubeletConfiguration of a standalone node: closed to the network, open for reading on loopback. JSON is YAML. */
export function createAgentConfig(layout: NodeLayout, record: NodeRecord): string {
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    staticPodPath: record.manifests,
    containerRuntimeEndpoint: record.runtime ?? `unix://${layout.containerd.socket}`,
    cgroupRoot: record.cgroupRoot,
    cgroupDriver: 'cgroupfs',
    podLogsDir: layout.podLogs,
    address: '127.0.0.1',
    port: record.ports.api,
    readOnlyPort: record.ports.readOnly,
    healthzBindAddress: '127.0.0.1',
    healthzPort: record.ports.healthz,
    // Without a cluster there is nobody to ask who a caller is: the API on "port" refuses all, the read-only one tells.
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    failCgroupV1: false,
    failSwapOn: false,
  }
  return `${JSON.stringify(config, undefined, 2)}\n`
}
