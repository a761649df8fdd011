import { each, post, remove } from '../contract-case.ts'
import type { ContractCase, ContractTable } from '../contract-case.ts'
import {
  ACCOUNTS,
  CLAIMS,
  CONFIG_MAPS,
  configMap,
  core,
  EVENTS,
  LEASES,
  NAMESPACED,
  of,
  SECRETS,
  SERVICES,
  VOLUMES,
} from './objects.ts'

type Fields = Readonly<Record<string, unknown>>

const service = (spec: Fields, name = 'a') => core('Service', name, { spec })
const port = { port: 80 }
const volume = (spec: Fields) =>
  core('PersistentVolume', 'contract-a', {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
  })
const hostPath = { hostPath: { path: '/x' } }
const claim = (spec: Fields) =>
  core('PersistentVolumeClaim', 'a', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  })
const secret = (fields: Fields) => core('Secret', 'a', fields)
const storage = (kind: string, spec: Fields, name = 'contract.example.com') =>
  of('storage.k8s.io/v1', kind, name, { spec })
const event = (fields: Fields = {}) =>
  core('Event', 'a', {
    involvedObject: { kind: 'Pod', namespace: '$(ns)', name: 'p' },
    reason: 'R',
    message: 'm',
    type: 'Normal',
    ...fields,
  })
const lease = (spec: Fields) => of('coordination.k8s.io/v1', 'Lease', 'a', { spec })
const base64 = (text: string) => Buffer.from(text).toString('base64')

const DRIVERS = '/apis/storage.k8s.io/v1/csidrivers'
const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes'
const ATTACHMENTS = '/apis/storage.k8s.io/v1/volumeattachments'
const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses'
const RUNTIMES = '/apis/node.k8s.io/v1/runtimeclasses'
const NEW_EVENTS = '/apis/events.k8s.io/v1/namespaces/$(ns)/events'
const RESOURCES = '/apis/resource.k8s.io/v1'

type Row = readonly [name: string, path: string, body: object]

const newEvent = (name: string, fields: Fields): Row => [
  name,
  NEW_EVENTS,
  of('events.k8s.io/v1', 'Event', 'b', {
    eventTime: '2020-01-01T00:00:00.000001Z',
    reportingController: 'example.com/c',
    reportingInstance: 'i',
    action: 'A',
    reason: 'R',
    type: 'Normal',
    regarding: { kind: 'Pod', name: 'p', namespace: '$(ns)' },
    ...fields,
  }),
]
const claimOf = (name: string, devices: Fields): Row => [
  name,
  `${RESOURCES}/namespaces/$(ns)/resourceclaims`,
  of('resource.k8s.io/v1', 'ResourceClaim', 'a', { spec: { devices } }),
]

/** Objects of each kind, good and bad: what they get besides, or which rules they break. */
const rows: readonly Row[] = [
  ['configmap', CONFIG_MAPS, configMap('a', { k: 'v' })],
  ['configmap with nothing', CONFIG_MAPS, configMap('a')],
  ['configmap with bytes', CONFIG_MAPS, core('ConfigMap', 'a', { binaryData: { b: base64('x') }, immutable: true })],
  ['configmap with a bad key', CONFIG_MAPS, configMap('a', { 'a b': 'v', '..': 'x' })],
  [
    'configmap with a key in both',
    CONFIG_MAPS,
    core('ConfigMap', 'a', { data: { k: 'v' }, binaryData: { k: base64('x') } }),
  ],
  ['configmap too large', CONFIG_MAPS, configMap('a', { k: 'x'.repeat(1_048_577) })],
  ['configmap with bytes that are none', CONFIG_MAPS, core('ConfigMap', 'a', { binaryData: { b: '!' } })],
  ['configmap with a number for a text', CONFIG_MAPS, configMap('a', { k: 1 })],
  ['configmap with a name that is none', CONFIG_MAPS, configMap('A_', {})],
  ['secret', SECRETS, secret({ data: { k: base64('v') } })],
  ['secret with texts', SECRETS, secret({ stringData: { k: 'v', l: 'w' }, data: { k: base64('old') } })],
  ['secret with a bad key', SECRETS, secret({ data: { 'a b': base64('x') } })],
  ['secret of a registry without its key', SECRETS, secret({ type: 'kubernetes.io/dockerconfigjson', data: {} })],
  [
    'secret of a registry with no JSON',
    SECRETS,
    secret({ type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'x' } }),
  ],
  [
    'secret of a registry in the old form',
    SECRETS,
    secret({ type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '{}' } }),
  ],
  ['secret of TLS without a key', SECRETS, secret({ type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'x' } })],
  ['secret of a login without user and password', SECRETS, secret({ type: 'kubernetes.io/basic-auth', data: {} })],
  ['secret of SSH without a key', SECRETS, secret({ type: 'kubernetes.io/ssh-auth', data: {} })],
  ['secret of an account without its annotation', SECRETS, secret({ type: 'kubernetes.io/service-account-token' })],
  ['secret too large', SECRETS, secret({ stringData: { k: 'x'.repeat(1_048_577) } })],
  ['secret of its own type', SECRETS, secret({ type: 'example.com/x', immutable: true })],
  ['service', SERVICES, service({ ports: [port], selector: { a: 'b' } })],
  ['service without ports', SERVICES, service({ selector: { a: 'b' } })],
  [
    'service with several ports',
    SERVICES,
    service({
      ports: [
        { ...port, name: 'a', targetPort: 'web' },
        { port: 81, name: 'b', protocol: 'UDP' },
      ],
    }),
  ],
  ['service with two ports without names', SERVICES, service({ ports: [port, { port: 81 }] })],
  [
    'service with two equal ports',
    SERVICES,
    service({
      ports: [
        { ...port, name: 'a' },
        { ...port, name: 'b' },
      ],
    }),
  ],
  ['headless service', SERVICES, service({ clusterIP: 'None', selector: { a: 'b' } })],
  ['service on ports of nodes', SERVICES, service({ type: 'NodePort', ports: [port] })],
  ['service with a load balancer', SERVICES, service({ type: 'LoadBalancer', ports: [port] })],
  ['service with an outer name', SERVICES, service({ type: 'ExternalName', externalName: 'x.example.com' })],
  ['service with an outer name that is none', SERVICES, service({ type: 'ExternalName' })],
  ['service of a type that is none', SERVICES, service({ type: 'Magic', ports: [port] })],
  ['service with an address outside of the range', SERVICES, service({ clusterIP: '1.2.3.4', ports: [port] })],
  ['service with a bad address', SERVICES, service({ clusterIP: 'x', ports: [port] })],
  ['service with a port beyond all', SERVICES, service({ ports: [{ port: 70_000 }] })],
  ['service with a protocol that is none', SERVICES, service({ ports: [{ port: 80, protocol: 'ICMP' }] })],
  ['service with a target that is none', SERVICES, service({ ports: [{ port: 80, targetPort: 'Not one' }] })],
  ['service with sessions', SERVICES, service({ sessionAffinity: 'ClientIP', ports: [port] })],
  ['service with sessions that are none', SERVICES, service({ sessionAffinity: 'Sticky', ports: [port] })],
  ['service with outer addresses', SERVICES, service({ externalIPs: ['127.0.0.1', 'x'], ports: [port] })],
  ['service with a node port that is not its type', SERVICES, service({ ports: [{ port: 80, nodePort: 30_100 }] })],
  [
    'service with a policy of outer traffic on the inside',
    SERVICES,
    service({ externalTrafficPolicy: 'Local', ports: [port] }),
  ],
  ['service with a policy of inner traffic', SERVICES, service({ internalTrafficPolicy: 'Local', ports: [port] })],
  ['service whose name begins with a digit', SERVICES, service({ ports: [port] }, '1a')],
  ['service with a bad selector', SERVICES, service({ ports: [port], selector: { 'a b': 'c d' } })],
  [
    'endpoints',
    `${NAMESPACED}/endpoints`,
    core('Endpoints', 'a', { subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 80 }] }] }),
  ],
  [
    'endpoints with a bad address',
    `${NAMESPACED}/endpoints`,
    core('Endpoints', 'a', { subsets: [{ addresses: [{ ip: 'x' }], ports: [{ port: 80 }] }] }),
  ],
  ['service account', ACCOUNTS, core('ServiceAccount', 'a')],
  [
    'service account with secrets',
    ACCOUNTS,
    core('ServiceAccount', 'a', {
      secrets: [{ name: 's' }],
      imagePullSecrets: [{ name: 'p' }],
      automountServiceAccountToken: false,
    }),
  ],
  ['event', EVENTS, event()],
  [
    'event about another namespace',
    EVENTS,
    event({ involvedObject: { kind: 'Pod', namespace: 'elsewhere', name: 'p' } }),
  ],
  ['event about nothing', EVENTS, core('Event', 'a')],
  [
    'event with times',
    EVENTS,
    event({
      firstTimestamp: '2020-01-01T00:00:00Z',
      lastTimestamp: '2020-01-01T00:00:01Z',
      count: 3,
      source: { component: 'c', host: 'h' },
    }),
  ],
  ['event with a time of microseconds and nothing else', EVENTS, event({ eventTime: '2020-01-01T00:00:00.000001Z' })],
  [
    'event of the new group',
    NEW_EVENTS,
    of('events.k8s.io/v1', 'Event', 'b', {
      eventTime: '2020-01-01T00:00:00.000001Z',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      action: 'A',
      reason: 'R',
      type: 'Normal',
      regarding: { kind: 'Pod', name: 'p', namespace: '$(ns)' },
      note: 'n',
    }),
  ],
  newEvent('event of the new group with what is old', {
    deprecatedCount: 1,
    deprecatedFirstTimestamp: '2020-01-01T00:00:00Z',
    deprecatedLastTimestamp: '2020-01-01T00:00:00Z',
    deprecatedSource: { component: 'c' },
  }),
  newEvent('event of the new group with a series of one', { series: { count: 1 } }),
  newEvent('event of the new group with too long texts', {
    reportingInstance: 'x'.repeat(129),
    action: 'x'.repeat(129),
    reason: 'x'.repeat(129),
    note: 'x'.repeat(1025),
  }),
  newEvent('event of the new group about nothing', { regarding: {} }),
  [
    'event of the new group without all',
    NEW_EVENTS,
    of('events.k8s.io/v1', 'Event', 'b', { regarding: { kind: 'Pod', name: 'p', namespace: '$(ns)' } }),
  ],
  [
    'event of the new group with a type that is none',
    NEW_EVENTS,
    of('events.k8s.io/v1', 'Event', 'b', {
      eventTime: '2020-01-01T00:00:00.000001Z',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      action: 'A',
      reason: 'R',
      type: 'Odd',
      regarding: { kind: 'Pod', name: 'p', namespace: '$(ns)' },
    }),
  ],
  ['lease', LEASES, lease({ holderIdentity: 'h', leaseDurationSeconds: 40, renewTime: '2020-01-01T00:00:00.123456Z' })],
  ['lease of no seconds', LEASES, lease({ leaseDurationSeconds: 0 })],
  ['lease with negative transitions', LEASES, lease({ leaseTransitions: -1 })],
  ['lease with nothing', LEASES, of('coordination.k8s.io/v1', 'Lease', 'a')],
  ['lease with a bad time', LEASES, lease({ renewTime: 'now' })],
  ['volume', VOLUMES, volume(hostPath)],
  ['volume without a source', VOLUMES, volume({})],
  [
    'volume without a size',
    VOLUMES,
    core('PersistentVolume', 'contract-a', { spec: { accessModes: ['ReadWriteOnce'], ...hostPath } }),
  ],
  [
    'volume without a mode',
    VOLUMES,
    core('PersistentVolume', 'contract-a', { spec: { capacity: { storage: '1Gi' }, ...hostPath } }),
  ],
  ['volume with a mode that is none', VOLUMES, volume({ accessModes: ['Sometimes'], ...hostPath })],
  [
    'volume with a mode that stands alone',
    VOLUMES,
    volume({ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'], csi: { driver: 'x.example.com', volumeHandle: 'h' } }),
  ],
  ['volume with two sources', VOLUMES, volume({ ...hostPath, nfs: { server: 's', path: '/p' } })],
  ['volume of a driver', VOLUMES, volume({ csi: { driver: 'x.example.com', volumeHandle: 'h' } })],
  ['volume of a driver without a handle', VOLUMES, volume({ csi: { driver: 'x.example.com' } })],
  ['local volume without a node', VOLUMES, volume({ local: { path: '/x' } })],
  ['volume with a policy that is none', VOLUMES, volume({ ...hostPath, persistentVolumeReclaimPolicy: 'Burn' })],
  [
    'volume with a class and a kind',
    VOLUMES,
    volume({ ...hostPath, storageClassName: 'c', volumeMode: 'Block', mountOptions: ['ro'] }),
  ],
  ['volume of negative size', VOLUMES, volume({ ...hostPath, capacity: { storage: '-1' } })],
  ['claim', CLAIMS, claim({})],
  ['claim of no class', CLAIMS, claim({ storageClassName: '' })],
  ['claim without modes', CLAIMS, claim({ accessModes: [] })],
  ['claim without a size', CLAIMS, claim({ resources: {} })],
  ['claim of a negative size', CLAIMS, claim({ resources: { requests: { storage: '-1' } } })],
  ['claim with a bad mode', CLAIMS, claim({ accessModes: ['Sometimes'] })],
  ['claim with a bad class', CLAIMS, claim({ storageClassName: 'Not one' })],
  ['claim with a bad selector', CLAIMS, claim({ selector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } })],
  ['claim from a claim', CLAIMS, claim({ dataSource: { kind: 'PersistentVolumeClaim', name: 'x' } })],
  ['claim with a volume kind that is none', CLAIMS, claim({ volumeMode: 'Tape' })],
  ['csi driver', DRIVERS, storage('CSIDriver', {})],
  [
    'csi driver with all',
    DRIVERS,
    storage('CSIDriver', {
      attachRequired: false,
      podInfoOnMount: true,
      volumeLifecycleModes: ['Ephemeral'],
      fsGroupPolicy: 'File',
      tokenRequests: [{ audience: 'a', expirationSeconds: 600 }],
      requiresRepublish: true,
      seLinuxMount: true,
    }),
  ],
  ['csi driver with a mode that is none', DRIVERS, storage('CSIDriver', { volumeLifecycleModes: ['Forever'] })],
  ['csi driver with a policy that is none', DRIVERS, storage('CSIDriver', { fsGroupPolicy: 'Maybe' })],
  [
    'csi driver with two tokens of one audience',
    DRIVERS,
    storage('CSIDriver', { tokenRequests: [{ audience: 'a' }, { audience: 'a' }] }),
  ],
  ['csi driver with a bad name', DRIVERS, storage('CSIDriver', {}, 'a'.repeat(70))],
  ['csi node', CSI_NODES, storage('CSINode', { drivers: [] }, 'contract-node')],
  [
    'csi node with a driver',
    CSI_NODES,
    storage(
      'CSINode',
      { drivers: [{ name: 'x.example.com', nodeID: 'n', topologyKeys: ['a/b'], allocatable: { count: 3 } }] },
      'contract-node',
    ),
  ],
  [
    'csi node with two equal drivers',
    CSI_NODES,
    storage(
      'CSINode',
      {
        drivers: [
          { name: 'x.example.com', nodeID: 'n' },
          { name: 'x.example.com', nodeID: 'n' },
        ],
      },
      'contract-node',
    ),
  ],
  [
    'csi node without an id',
    CSI_NODES,
    storage('CSINode', { drivers: [{ name: 'x.example.com', nodeID: '' }] }, 'contract-node'),
  ],
  [
    'attachment',
    ATTACHMENTS,
    storage(
      'VolumeAttachment',
      { attacher: 'x.example.com', nodeName: 'node-1', source: { persistentVolumeName: 'v' } },
      'contract-a',
    ),
  ],
  [
    'attachment of nothing',
    ATTACHMENTS,
    storage('VolumeAttachment', { attacher: '', nodeName: '', source: {} }, 'contract-a'),
  ],
  ['priority class', CLASSES, of('scheduling.k8s.io/v1', 'PriorityClass', 'contract-a', { value: 7 })],
  [
    'priority class without preemption',
    CLASSES,
    of('scheduling.k8s.io/v1', 'PriorityClass', 'contract-a', {
      value: 7,
      preemptionPolicy: 'Never',
      description: 'd',
    }),
  ],
  [
    'priority class beyond users',
    CLASSES,
    of('scheduling.k8s.io/v1', 'PriorityClass', 'contract-a', { value: 1_000_000_001 }),
  ],
  [
    'priority class with the name of the system',
    CLASSES,
    of('scheduling.k8s.io/v1', 'PriorityClass', 'system-a', { value: 7 }),
  ],
  [
    'priority class with a policy that is none',
    CLASSES,
    of('scheduling.k8s.io/v1', 'PriorityClass', 'contract-a', { value: 7, preemptionPolicy: 'Maybe' }),
  ],
  ['runtime class', RUNTIMES, of('node.k8s.io/v1', 'RuntimeClass', 'contract-a', { handler: 'runc' })],
  [
    'runtime class with overhead',
    RUNTIMES,
    of('node.k8s.io/v1', 'RuntimeClass', 'contract-a', {
      handler: 'runc',
      overhead: { podFixed: { cpu: '100m' } },
      scheduling: { nodeSelector: { a: 'b' } },
    }),
  ],
  ['runtime class without a handler', RUNTIMES, of('node.k8s.io/v1', 'RuntimeClass', 'contract-a', {})],
  [
    'runtime class with a bad handler',
    RUNTIMES,
    of('node.k8s.io/v1', 'RuntimeClass', 'contract-a', { handler: 'Not one' }),
  ],
  ['node', '/api/v1/nodes', core('Node', 'contract-node')],
  [
    'node with addresses of pods',
    '/api/v1/nodes',
    core('Node', 'contract-node', { spec: { podCIDR: '10.1.0.0/24', providerID: 'p' } }),
  ],
  [
    'node with bad addresses of pods',
    '/api/v1/nodes',
    core('Node', 'contract-node', { spec: { podCIDRs: ['x', 'y'] } }),
  ],
  [
    'node with taints',
    '/api/v1/nodes',
    core('Node', 'contract-node', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }], unschedulable: true } }),
  ],
  [
    'node with a bad taint',
    '/api/v1/nodes',
    core('Node', 'contract-node', { spec: { taints: [{ key: 'a b', effect: 'Later' }] } }),
  ],
  [
    'node with two equal taints',
    '/api/v1/nodes',
    core('Node', 'contract-node', {
      spec: {
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoSchedule' },
        ],
      },
    }),
  ],
  ['namespace', '/api/v1/namespaces', core('Namespace', 'contract-other')],
  ['namespace with a bad name', '/api/v1/namespaces', core('Namespace', 'a.b')],
  [
    'namespace with a status',
    '/api/v1/namespaces',
    core('Namespace', 'contract-other', { status: { phase: 'Terminating' }, spec: { finalizers: ['example.com/x'] } }),
  ],
  [
    'device class',
    `${RESOURCES}/deviceclasses`,
    of('resource.k8s.io/v1', 'DeviceClass', 'contract-a', { spec: { selectors: [{ cel: { expression: 'true' } }] } }),
  ],
  [
    'resource claim',
    `${RESOURCES}/namespaces/$(ns)/resourceclaims`,
    of('resource.k8s.io/v1', 'ResourceClaim', 'a', {
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } },
    }),
  ],
  [
    'resource claim without a class',
    `${RESOURCES}/namespaces/$(ns)/resourceclaims`,
    of('resource.k8s.io/v1', 'ResourceClaim', 'a', { spec: { devices: { requests: [{ name: 'r', exactly: {} }] } } }),
  ],
  [
    'resource claim with two equal requests',
    `${RESOURCES}/namespaces/$(ns)/resourceclaims`,
    of('resource.k8s.io/v1', 'ResourceClaim', 'a', {
      spec: {
        devices: {
          requests: [
            { name: 'r', exactly: { deviceClassName: 'c' } },
            { name: 'r', exactly: { deviceClassName: 'c' } },
          ],
        },
      },
    }),
  ],
  claimOf('resource claim of nothing', { requests: [{ name: 'r' }] }),
  claimOf('resource claim of this and that', {
    requests: [{ name: 'r', exactly: { deviceClassName: 'c' }, firstAvailable: [{ name: 's', deviceClassName: 'c' }] }],
  }),
  claimOf('resource claim of the first of two', {
    requests: [
      {
        name: 'r',
        firstAvailable: [
          { name: 's', deviceClassName: 'c' },
          { name: 's', deviceClassName: '' },
        ],
      },
    ],
  }),
  claimOf('resource claim with bad names', {
    requests: [{ name: 'A_b', exactly: { deviceClassName: 'A_b' } }],
  }),
  claimOf('resource claim of all, and two', {
    requests: [{ name: 'r', exactly: { deviceClassName: 'c', allocationMode: 'All', count: 2 } }],
  }),
  claimOf('resource claim with a mode that is none', {
    requests: [{ name: 'r', exactly: { deviceClassName: 'c', allocationMode: 'Some' } }],
  }),
  claimOf('resource claim of less than none', {
    requests: [{ name: 'r', exactly: { deviceClassName: 'c', count: -1 } }],
  }),
  claimOf('resource claim with a selector of nothing', {
    requests: [{ name: 'r', exactly: { deviceClassName: 'c', selectors: [{}] } }],
  }),
  claimOf('resource claim about requests that are not there', {
    requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }],
    constraints: [{ requests: ['x'], matchAttribute: 'example.com/a' }],
    config: [{ requests: ['r', 'r/x'], opaque: { driver: 'x.example.com', parameters: { a: 1 } } }],
  }),
  claimOf('resource claim with a configuration of nothing', {
    requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }],
    config: [{ requests: ['r'] }],
  }),
  claimOf('resource claim of too much', {
    requests: Array.from({ length: 33 }, (_, index) => ({ name: `r${index}`, exactly: { deviceClassName: 'c' } })),
  }),
  [
    'resource claim template without a class',
    `${RESOURCES}/namespaces/$(ns)/resourceclaimtemplates`,
    of('resource.k8s.io/v1', 'ResourceClaimTemplate', 'a', {
      spec: { spec: { devices: { requests: [{ name: 'r', exactly: {} }] } } },
    }),
  ],
  [
    'resource claim template',
    `${RESOURCES}/namespaces/$(ns)/resourceclaimtemplates`,
    of('resource.k8s.io/v1', 'ResourceClaimTemplate', 'a', {
      spec: { spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } } },
    }),
  ],
  [
    'resource slice',
    `${RESOURCES}/resourceslices`,
    of('resource.k8s.io/v1', 'ResourceSlice', 'contract-a', {
      spec: {
        driver: 'x.example.com',
        nodeName: 'n',
        pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'd' }],
      },
    }),
  ],
  [
    'resource slice of no node',
    `${RESOURCES}/resourceslices`,
    of('resource.k8s.io/v1', 'ResourceSlice', 'contract-a', {
      spec: { driver: 'x.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 1 } },
    }),
  ],
  [
    'certificate request that is none',
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    of('certificates.k8s.io/v1', 'CertificateSigningRequest', 'contract-a', {
      spec: { request: base64('x'), signerName: 'example.com/x', usages: ['client auth'] },
    }),
  ],
  [
    'certificate request without all',
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    of('certificates.k8s.io/v1', 'CertificateSigningRequest', 'contract-a', { spec: {} }),
  ],
]

export const kinds: ContractTable = {
  name: 'kinds',
  cases: rows.map(([name, path, body]) => each(name, post(`${path}?dryRun=All`, body))),
}

/** What is really stored comes back as it was answered. */
const stored: readonly (readonly [name: string, path: string, object: object])[] = [
  ['configmap', CONFIG_MAPS, configMap('kept', { k: 'v' })],
  ['secret', SECRETS, core('Secret', 'kept', { stringData: { k: 'v' } })],
  ['service', SERVICES, core('Service', 'kept', { spec: { ports: [port] } })],
  ['lease', LEASES, of('coordination.k8s.io/v1', 'Lease', 'kept', { spec: { holderIdentity: 'h' } })],
  [
    'claim',
    CLAIMS,
    core('PersistentVolumeClaim', 'kept', {
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } },
    }),
  ],
  [
    'volume',
    VOLUMES,
    core('PersistentVolume', 'contract-kept', {
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...hostPath },
    }),
  ],
  ['service account', ACCOUNTS, core('ServiceAccount', 'kept')],
  ['endpoints', `${NAMESPACED}/endpoints`, core('Endpoints', 'kept')],
  ['csi driver', DRIVERS, of('storage.k8s.io/v1', 'CSIDriver', 'kept.example.com', { spec: {} })],
  ['runtime class', RUNTIMES, of('node.k8s.io/v1', 'RuntimeClass', 'contract-kept', { handler: 'x' })],
  ['priority class', CLASSES, of('scheduling.k8s.io/v1', 'PriorityClass', 'contract-kept', { value: 1 })],
  ['node', '/api/v1/nodes', core('Node', 'contract-kept')],
]

const life = ([name, path, object]: (typeof stored)[number]): ContractCase => {
  const own = `${path}/${(object as { readonly metadata: { readonly name: string } }).metadata.name}`
  const steps = [
    post(path, object),
    post(path, object),
    { verb: 'GET', path: own },
    { verb: 'GET', path, shows: ['kind', 'apiVersion', 'metadata'] },
    remove(own),
    { verb: 'GET', path: own, shows: 'code' as const },
  ]
  return { name: `${name}: made, made again, read, listed, deleted`, steps }
}

export const lives: ContractTable = { name: 'lives', cases: stored.map(life) }
