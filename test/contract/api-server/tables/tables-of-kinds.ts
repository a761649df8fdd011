import { each, get, post, remove } from '../contract-case.ts'
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
  NODES,
  of,
  pod,
  PODS,
  SECRETS,
  SERVICES,
  VOLUMES,
} from './objects.ts'

const TABLE = {
  accept:
    'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
}

interface TableBody {
  readonly kind: string
  readonly columnDefinitions?: readonly {
    readonly name: string
    readonly type: string
    readonly format: string
    readonly priority: number
  }[]
  readonly rows?: readonly {
    readonly cells: readonly unknown[]
    readonly conditions?: unknown
    readonly object?: { readonly kind?: string }
  }[]
}

/** Columns without their descriptions, which are upstream's sentences. */
const columns = (body: unknown) => {
  const { kind, columnDefinitions, rows } = body as TableBody
  return {
    kind,
    columns: columnDefinitions?.map(({ name, type, format, priority }) => ({ name, type, format, priority })),
    rows: rows?.map(({ cells, conditions, object }) => ({ cells, conditions, object: object?.kind })),
  }
}

/** What "kubectl get" prints of an object. */
export function row(name: string, path: string, object: object, status?: object): ContractCase {
  const own = `${path}/${(object as { readonly metadata: { readonly name: string } }).metadata.name}`
  return each(
    name,
    post(path, object, { shows: 'code' }),
    ...(status === undefined
      ? []
      : [{ verb: 'PATCH:merge', path: `${own}/status`, body: { status }, shows: 'code' as const }]),
    get(own, { headers: TABLE, shows: columns }),
    remove(`${own}?gracePeriodSeconds=0`, undefined, { shows: 'code' }),
  )
}

const time = '2020-01-01T00:00:00Z'
const running = (fields: object) => ({
  name: 'main',
  image: 'x',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { running: { startedAt: time } },
  ...fields,
})
const onNode = (name: string, spec: object = {}) => pod(name, { nodeName: 'node-1', ...spec })
const ready = { type: 'Ready', status: 'True' }

const podRows: readonly ContractCase[] = [
  row('pod that waits for a node', PODS, pod('p')),
  row('pod that runs', PODS, onNode('p'), {
    phase: 'Running',
    podIP: '10.1.2.3',
    podIPs: [{ ip: '10.1.2.3' }],
    conditions: [ready],
    containerStatuses: [running({ ready: true, started: true })],
  }),
  row('pod that runs and is not ready', PODS, onNode('p'), { phase: 'Running', containerStatuses: [running({})] }),
  row('pod whose container waits', PODS, onNode('p'), {
    phase: 'Pending',
    containerStatuses: [running({ state: { waiting: { reason: 'ImagePullBackOff' } } })],
  }),
  row('pod whose container crashed', PODS, onNode('p'), {
    phase: 'Running',
    containerStatuses: [
      running({
        restartCount: 3,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 1, finishedAt: time } },
      }),
    ],
  }),
  row('pod whose container ended with a code', PODS, onNode('p'), {
    phase: 'Failed',
    containerStatuses: [running({ state: { terminated: { exitCode: 3 } } })],
  }),
  row('pod whose container ended by a signal', PODS, onNode('p'), {
    phase: 'Failed',
    containerStatuses: [running({ state: { terminated: { exitCode: 137, signal: 9 } } })],
  }),
  row('pod whose container ended for a reason', PODS, onNode('p'), {
    phase: 'Failed',
    containerStatuses: [running({ state: { terminated: { exitCode: 1, reason: 'Error' } } })],
  }),
  row('pod that is done', PODS, onNode('p'), {
    phase: 'Succeeded',
    containerStatuses: [running({ state: { terminated: { exitCode: 0, reason: 'Completed' } } })],
  }),
  row('pod that is done with one of two', PODS, onNode('p'), {
    phase: 'Running',
    conditions: [ready],
    containerStatuses: [
      running({ ready: true }),
      running({ name: 'b', state: { terminated: { exitCode: 0, reason: 'Completed' } } }),
    ],
  }),
  row('pod with a reason', PODS, onNode('p'), { phase: 'Failed', reason: 'Evicted' }),
  row('pod of a lost node', PODS, onNode('p'), { phase: 'Running', reason: 'NodeLost' }),
  row(
    'pod whose init container runs',
    PODS,
    onNode('p', {
      initContainers: [
        { name: 'i', image: 'x' },
        { name: 'j', image: 'x' },
      ],
    }),
    { phase: 'Pending', initContainerStatuses: [{ ...running({ name: 'i' }) }] },
  ),
  row('pod whose init container waits', PODS, onNode('p', { initContainers: [{ name: 'i', image: 'x' }] }), {
    phase: 'Pending',
    initContainerStatuses: [{ ...running({ name: 'i', state: { waiting: { reason: 'ErrImagePull' } } }) }],
  }),
  row('pod whose init container failed', PODS, onNode('p', { initContainers: [{ name: 'i', image: 'x' }] }), {
    phase: 'Pending',
    initContainerStatuses: [{ ...running({ name: 'i', state: { terminated: { exitCode: 2, reason: 'Error' } } }) }],
  }),
  row(
    'pod with a sidecar',
    PODS,
    onNode('p', { initContainers: [{ name: 'i', image: 'x', restartPolicy: 'Always' }] }),
    {
      phase: 'Running',
      conditions: [{ type: 'Initialized', status: 'True' }, ready],
      initContainerStatuses: [{ ...running({ name: 'i', started: true, ready: true, restartCount: 1 }) }],
      containerStatuses: [running({ ready: true })],
    },
  ),
  row('pod with gates', PODS, pod('p', { schedulingGates: [{ name: 'example.com/g' }] })),
  row(
    'pod with readiness gates',
    PODS,
    onNode('p', { readinessGates: [{ conditionType: 'example.com/a' }, { conditionType: 'example.com/b' }] }),
    { phase: 'Running', conditions: [{ type: 'example.com/a', status: 'True' }] },
  ),
  row('pod chosen for a node', PODS, pod('p'), { nominatedNodeName: 'node-7' }),
]

const condition = (type: string, status: string) => ({
  type,
  status,
  lastHeartbeatTime: time,
  lastTransitionTime: time,
})
const info = {
  kernelVersion: '6.1',
  osImage: 'Debian',
  containerRuntimeVersion: 'containerd://1',
  kubeletVersion: 'v1.36.4',
  architecture: 'amd64',
  bootID: '',
  kubeProxyVersion: '',
  machineID: '',
  operatingSystem: 'linux',
  systemUUID: '',
}

const otherRows: readonly ContractCase[] = [
  row('node', NODES, core('Node', 'contract-table')),
  row(
    'node that is ready',
    NODES,
    core(
      'Node',
      'contract-table',
      {},
      { labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'old' } },
    ),
    {
      conditions: [condition('Ready', 'True')],
      addresses: [
        { type: 'InternalIP', address: '1.2.3.4' },
        { type: 'ExternalIP', address: '5.6.7.8' },
      ],
      nodeInfo: info,
    },
  ),
  row('node that is not ready and closed', NODES, core('Node', 'contract-table', { spec: { unschedulable: true } }), {
    conditions: [condition('Ready', 'False')],
    nodeInfo: info,
  }),
  row('node that nothing is known of', NODES, core('Node', 'contract-table'), {
    conditions: [condition('Ready', 'Unknown')],
  }),
  row('configmap', CONFIG_MAPS, configMap('c', { a: '1', b: '2' })),
  row('secret', SECRETS, core('Secret', 's', { stringData: { a: '1' } })),
  row(
    'service',
    SERVICES,
    core('Service', 's', {
      spec: {
        ports: [
          { port: 80, name: 'a' },
          { port: 81, name: 'b', protocol: 'UDP' },
        ],
        selector: { a: 'b', c: 'd' },
      },
    }),
  ),
  row(
    'service on ports of nodes',
    SERVICES,
    core('Service', 's', { spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_777 }] } }),
  ),
  row(
    'service with an outer name',
    SERVICES,
    core('Service', 's', { spec: { type: 'ExternalName', externalName: 'x.example.com' } }),
  ),
  row(
    'service with a load balancer',
    SERVICES,
    core('Service', 's', {
      spec: {
        type: 'LoadBalancer',
        allocateLoadBalancerNodePorts: false,
        ports: [{ port: 80 }],
        externalIPs: ['9.9.9.9'],
      },
    }),
  ),
  row('headless service', SERVICES, core('Service', 's', { spec: { clusterIP: 'None' } })),
  row(
    'endpoints',
    `${NAMESPACED}/endpoints`,
    core('Endpoints', 'e', {
      subsets: [{ addresses: ['1', '2', '3', '4'].map((end) => ({ ip: `1.2.3.${end}` })), ports: [{ port: 80 }] }],
    }),
  ),
  row('endpoints with nothing', `${NAMESPACED}/endpoints`, core('Endpoints', 'e')),
  row('service account', ACCOUNTS, core('ServiceAccount', 'a', { secrets: [{ name: 'x' }] })),
  row(
    'event',
    EVENTS,
    core('Event', 'e', {
      involvedObject: { kind: 'Pod', namespace: '$(ns)', name: 'p', fieldPath: 'spec.containers{main}' },
      reason: 'R',
      message: ' m ',
      type: 'Normal',
      count: 4,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component: 'c', host: 'h' },
    }),
  ),
  row('lease', LEASES, of('coordination.k8s.io/v1', 'Lease', 'l', { spec: { holderIdentity: 'h' } })),
  row(
    'volume',
    VOLUMES,
    core('PersistentVolume', 'contract-v', {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
        hostPath: { path: '/x' },
        storageClassName: 'c',
      },
    }),
  ),
  row(
    'claim',
    CLAIMS,
    core('PersistentVolumeClaim', 'c', {
      spec: { accessModes: ['ReadWriteMany'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
    }),
  ),
  row('namespace', '/api/v1/namespaces', core('Namespace', 'contract-table')),
  row(
    'runtime class',
    '/apis/node.k8s.io/v1/runtimeclasses',
    of('node.k8s.io/v1', 'RuntimeClass', 'contract-r', { handler: 'h' }),
  ),
  row(
    'priority class',
    '/apis/scheduling.k8s.io/v1/priorityclasses',
    of('scheduling.k8s.io/v1', 'PriorityClass', 'contract-p', { value: 5 }),
  ),
  row(
    'csi driver',
    '/apis/storage.k8s.io/v1/csidrivers',
    of('storage.k8s.io/v1', 'CSIDriver', 'table.example.com', { spec: { tokenRequests: [{ audience: 'a' }] } }),
  ),
  row(
    'csi node',
    '/apis/storage.k8s.io/v1/csinodes',
    of('storage.k8s.io/v1', 'CSINode', 'contract-c', { spec: { drivers: [{ name: 'a.b', nodeID: 'n' }] } }),
  ),
  row(
    'attachment',
    '/apis/storage.k8s.io/v1/volumeattachments',
    of('storage.k8s.io/v1', 'VolumeAttachment', 'contract-a', {
      spec: { attacher: 'a.b', nodeName: 'n', source: { persistentVolumeName: 'v' } },
    }),
  ),
  row(
    'resource claim',
    '/apis/resource.k8s.io/v1/namespaces/$(ns)/resourceclaims',
    of('resource.k8s.io/v1', 'ResourceClaim', 'r', {
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } },
    }),
  ),
  row(
    'device class',
    '/apis/resource.k8s.io/v1/deviceclasses',
    of('resource.k8s.io/v1', 'DeviceClass', 'contract-d', { spec: {} }),
  ),
  row(
    'resource slice',
    '/apis/resource.k8s.io/v1/resourceslices',
    of('resource.k8s.io/v1', 'ResourceSlice', 'contract-s', {
      spec: { driver: 'a.b', nodeName: 'n', pool: { name: 'p', generation: 1, resourceSliceCount: 1 } },
    }),
  ),
]

export const printed: ContractTable = {
  name: 'printed',
  cases: [
    ...podRows,
    ...otherRows,
    each('an empty list', get(SERVICES, { headers: TABLE, shows: columns })),
    each(
      'with whole objects',
      get(`${ACCOUNTS}?includeObject=Object&fieldSelector=metadata.name%3Ddefault`, { headers: TABLE, shows: columns }),
    ),
    each(
      'with no objects',
      get(`${ACCOUNTS}?includeObject=None&fieldSelector=metadata.name%3Ddefault`, { headers: TABLE, shows: columns }),
    ),
    each('with objects that are none', get(`${ACCOUNTS}?includeObject=Some`, { headers: TABLE, shows: 'code' })),
    each('an error stays a status', get(`${SERVICES}/missing`, { headers: TABLE })),
    each(
      'in the old version',
      get(`${ACCOUNTS}?fieldSelector=metadata.name%3Ddefault`, {
        headers: { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io' },
        shows: ['kind', 'apiVersion'],
      }),
    ),
  ],
}
