import type { NodeRecord } from '../node-record.ts'
import { CLUSTER_DOMAIN } from '../node-layout.ts'
import type { NodeLayout } from '../node-layout.ts'

// Those that the CIS benchmark calls strong, in its order.
const STRONG_CIPHERS = [
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
]
// More than any sane pod has, and far from what a machine can bear.
const MOST_PROCESSES = 4096

/**
 * The KubeletConfiguration of a standalone node: on loopback unless an address is asked for, nothing without a credential but health. What section 4 of the CIS
 * benchmark asks for is spelled out, also where it is the default: that is where its checkers search. JSON is YAML.
 */
export function createAgentConfig(layout: NodeLayout, record: NodeRecord): string {
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    staticPodPath: record.manifests,
    containerRuntimeEndpoint: record.runtime ?? `unix://${layout.containerd.socket}`,
    cgroupRoot: record.cgroupRoot,
    cgroupDriver: 'cgroupfs',
    podLogsDir: layout.podLogs,
    address: record.addresses?.[0] ?? '127.0.0.1',
    port: record.ports.agent,
    // "deckhand status" and "why" ask on the agent's socket, which is root's.
    readOnlyPort: 0,
    healthzBindAddress: '127.0.0.1',
    healthzPort: record.ports.healthz,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: `${layout.api}/pki/ca.crt` },
    },
    authorization: { mode: 'Webhook' },
    // Pods ask the node's own server for names.
    ...(record.without?.includes('dns') === true
      ? {}
      : { clusterDNS: [layout.services.dnsAddress], clusterDomain: CLUSTER_DOMAIN }),
    streamingConnectionIdleTimeout: '4h0m0s',
    rotateCertificates: true,
    serverTLSBootstrap: true,
    tlsMinVersion: 'VersionTLS12',
    tlsCipherSuites: STRONG_CIPHERS,
    featureGates: {
      // The API is as near as the folder of manifests.
      PreventStaticPodAPIReferences: false,
      // What a container says on one of its streams can be read without the other.
      PodLogsQuerySplitStreams: true,
      RotateKubeletServerCertificate: true,
    },
    // No controller on such a node attaches volumes.
    enableControllerAttachDetach: false,
    failCgroupV1: false,
    failSwapOn: false,
    // The rule that drops packets of neighbours for loopback addresses: a program may have set route_localnet.
    makeIPTablesUtilChains: true,
    eventRecordQPS: 50,
    podPidsLimit: MOST_PROCESSES,
    seccompDefault: true,
    // The images of a runtime that is not the node's own are the user's too: they go only when the disk is nearly full.
    ...(record.runtime === undefined ? {} : { imageGCHighThresholdPercent: 100 }),
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
