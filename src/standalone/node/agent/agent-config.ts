import type { NodeRecord } from '../node-record.ts'
import type { NodeLayout } from '../node-layout.ts'

/** The KubeletConfiguration of a standalone node: on loopback only, and there open for reading on one port. JSON is YAML. */
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
    port: record.ports.agent,
    readOnlyPort: record.ports.readOnly,
    healthzBindAddress: '127.0.0.1',
    healthzPort: record.ports.healthz,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: `${layout.api}/pki/ca.crt` },
    },
    authorization: { mode: 'Webhook' },
    rotateCertificates: true,
    serverTLSBootstrap: true,
    featureGates: {
      // The API is as near as the folder of manifests.
      PreventStaticPodAPIReferences: false,
    },
    failCgroupV1: false,
    failSwapOn: false,
    // No other program on such a node reads them.
    makeIPTablesUtilChains: false,
    // Shares of a disk that others fill too would keep pods from a machine that has plenty of room for them.
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1Gi',
      'nodefs.inodesFree': '1%',
      'imagefs.available': '1Gi',
      'imagefs.inodesFree': '1%',
    },
  }
  return `${JSON.stringify(config, undefined, 2)}\n`
}
