import { each, post, remove } from '../../contract-case.ts'
import type { ContractCase, ContractTable } from '../../contract-case.ts'
import { ACCOUNTS, CLAIMS, core, LEASES, NODES, of, SERVICES, VOLUMES } from '../objects.ts'
import { apply, change, force, make, owners, read } from './owned.ts'

const APPS = '/apis/apps/v1/namespaces/$(ns)'
const BATCH = '/apis/batch/v1/namespaces/$(ns)'
const template = (fields: object = {}) => ({
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'main', image: 'registry.test/app:1', ...fields }] },
})
const selector = { matchLabels: { app: 'x' } }

interface Kind {
  readonly name: string
  readonly path: string
  readonly object: (name: string) => { readonly metadata: object; readonly apiVersion: string; readonly kind: string }
  /** What two managers do not agree on. */
  readonly other: object
  /** Objects outside of the namespace go with the case. */
  readonly isOutside?: boolean
}

const kinds: readonly Kind[] = [
  {
    name: 'service',
    path: SERVICES,
    object: (name) =>
      core('Service', name, {
        spec: {
          selector: { app: 'x' },
          ports: [
            { port: 80 },
            { port: 53, protocol: 'UDP', name: 'dns' },
            { port: 81, name: 'x', targetPort: 'web' },
          ].map((port, index) => ({ name: `p${index}`, ...port })),
        },
      }),
    other: { spec: { selector: { app: 'y' }, ports: [{ port: 80, targetPort: 90 }] } },
  },
  {
    name: 'deployment',
    path: `${APPS}/deployments`,
    object: (name) => of('apps/v1', 'Deployment', name, { spec: { replicas: 2, selector, template: template() } }),
    other: {
      spec: {
        replicas: 3,
        strategy: { type: 'Recreate' },
        template: { spec: { containers: [{ name: 'main', image: 'registry.test/app:2' }] } },
      },
    },
  },
  {
    name: 'replica set',
    path: `${APPS}/replicasets`,
    object: (name) => of('apps/v1', 'ReplicaSet', name, { spec: { replicas: 0, selector, template: template() } }),
    other: { spec: { replicas: 1, minReadySeconds: 3 } },
  },
  {
    name: 'stateful set',
    path: `${APPS}/statefulsets`,
    object: (name) =>
      of('apps/v1', 'StatefulSet', name, { spec: { serviceName: 'x', replicas: 0, selector, template: template() } }),
    other: { spec: { replicas: 1, updateStrategy: { type: 'OnDelete' } } },
  },
  {
    name: 'daemon set',
    path: `${APPS}/daemonsets`,
    object: (name) => of('apps/v1', 'DaemonSet', name, { spec: { selector, template: template() } }),
    other: { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } },
  },
  {
    name: 'job',
    path: `${BATCH}/jobs`,
    object: (name) =>
      of('batch/v1', 'Job', name, {
        spec: {
          suspend: true,
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.test/app:1' }] } },
        },
      }),
    other: { spec: { suspend: false, activeDeadlineSeconds: 10 } },
  },
  {
    name: 'cron job',
    path: `${BATCH}/cronjobs`,
    object: (name) =>
      of('batch/v1', 'CronJob', name, {
        spec: {
          schedule: '1 1 1 1 *',
          suspend: true,
          jobTemplate: {
            spec: {
              template: {
                spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.test/app:1' }] },
              },
            },
          },
        },
      }),
    other: { spec: { schedule: '2 1 1 1 *' } },
  },
  {
    name: 'disruption budget',
    path: '/apis/policy/v1/namespaces/$(ns)/poddisruptionbudgets',
    object: (name) => of('policy/v1', 'PodDisruptionBudget', name, { spec: { minAvailable: 1, selector } }),
    other: { spec: { minAvailable: '50%' } },
  },
  {
    name: 'service account',
    path: ACCOUNTS,
    object: (name) =>
      core('ServiceAccount', name, {
        imagePullSecrets: [{ name: 'a' }],
        secrets: [{ name: 'b' }],
        automountServiceAccountToken: false,
      }),
    other: { imagePullSecrets: [{ name: 'c' }], automountServiceAccountToken: true },
  },
  {
    name: 'claim',
    path: CLAIMS,
    object: (name) =>
      core('PersistentVolumeClaim', name, {
        spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'x', resources: { requests: { storage: '1Gi' } } },
      }),
    other: { spec: { resources: { requests: { storage: '2Gi' } } } },
  },
  {
    name: 'endpoints',
    path: '/api/v1/namespaces/$(ns)/endpoints',
    object: (name) =>
      core('Endpoints', name, { subsets: [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }] }),
    other: { subsets: [] },
  },
  {
    name: 'lease',
    path: LEASES,
    object: (name) => of('coordination.k8s.io/v1', 'Lease', name, { spec: { holderIdentity: 'a' } }),
    other: { spec: { holderIdentity: 'b', leaseDurationSeconds: 3 } },
  },
  {
    name: 'namespace',
    path: '/api/v1/namespaces',
    isOutside: true,
    object: (name) => core('Namespace', name, {}, { labels: { a: 'b' } }),
    other: { metadata: { labels: { a: 'c' } } },
  },
  {
    name: 'node',
    path: NODES,
    isOutside: true,
    object: (name) => core('Node', name, { spec: { unschedulable: true } }, { labels: { a: 'b' } }),
    other: { spec: { unschedulable: false } },
  },
  {
    name: 'volume',
    path: VOLUMES,
    isOutside: true,
    object: (name) =>
      core('PersistentVolume', name, {
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          hostPath: { path: '/x' },
          claimRef: { namespace: 'n', name: 'c' },
        },
      }),
    other: { spec: { capacity: { storage: '2Gi' }, claimRef: { name: 'd' } } },
  },
  {
    name: 'priority class',
    path: '/apis/scheduling.k8s.io/v1/priorityclasses',
    isOutside: true,
    object: (name) => of('scheduling.k8s.io/v1', 'PriorityClass', name, { value: 5, description: 'x' }),
    other: { description: 'y' },
  },
  {
    name: 'runtime class',
    path: '/apis/node.k8s.io/v1/runtimeclasses',
    isOutside: true,
    object: (name) => of('node.k8s.io/v1', 'RuntimeClass', name, { handler: 'x' }),
    other: { scheduling: { nodeSelector: { a: 'b' } } },
  },
  {
    name: 'driver',
    path: '/apis/storage.k8s.io/v1/csidrivers',
    isOutside: true,
    object: (name) =>
      of('storage.k8s.io/v1', 'CSIDriver', name, {
        spec: { volumeLifecycleModes: ['Ephemeral', 'Persistent'], tokenRequests: [{ audience: 'a' }] },
      }),
    other: { spec: { requiresRepublish: true } },
  },
]

const short = (name: string) => name.replaceAll(' ', '-')

/** The same for each kind: made, applied, shared, taken, given up. */
function casesOf({ name, path, object, other, isOutside = false }: Kind): readonly ContractCase[] {
  const id = (step: string) => `${isOutside ? 'contract-' : ''}${short(name)}-${step}`
  const at = (step: string) => `${path}/${id(step)}`
  const second = (step: string) => {
    const { apiVersion, kind } = object(id(step))
    const { metadata = {}, ...fields } = other as { readonly metadata?: object }
    return { apiVersion, kind, metadata: { name: id(step), ...metadata }, ...fields }
  }
  const bare = (step: string) => {
    const { apiVersion, kind } = object(id(step))
    return { apiVersion, kind, metadata: { name: id(step) } }
  }
  const end = (step: string) => (isOutside ? [remove(at(step), undefined, { shows: 'code' })] : [])
  return [
    each(`${name}: by POST`, make('m0', path, object(id('a')), { shows: owners }), ...end('a')),
    each(
      `${name}: applied, twice`,
      apply('m1', at('b'), object(id('b')), { shows: owners }),
      apply('m1', at('b'), object(id('b')), { shows: owners }),
      ...end('b'),
    ),
    each(
      `${name}: what two do not agree on`,
      apply('m1', at('c'), object(id('c')), { shows: owners }),
      apply('m2', at('c'), second('c'), { shows: owners }),
      force('m2', at('c'), second('c'), { shows: owners }),
      apply('m2', at('c'), bare('c'), { shows: owners }),
      ...end('c'),
    ),
    each(
      `${name}: patched by another`,
      make('m0', path, object(id('d')), { shows: owners }),
      change('m2', 'merge', at('d'), other, { shows: owners }),
      apply('m1', at('d'), bare('d'), { shows: owners }),
      ...end('d'),
    ),
  ]
}

const deployment = (name: string, spec: object) => of('apps/v1', 'Deployment', name, { spec })
const DEPLOYMENTS = `${APPS}/deployments`
const whole = (name: string, fields: object = {}) => deployment(name, { selector, template: template(), ...fields })
const scaleOf = (name: string, replicas: number) => of('autoscaling/v1', 'Scale', name, { spec: { replicas } })

/** Each kind of the API, and what is special about some. */
export const applyKinds: ContractTable = {
  name: 'apply-kinds',
  cases: [
    ...kinds.flatMap(casesOf),
    each(
      'scale by PATCH',
      make('m0', DEPLOYMENTS, whole('s1', { replicas: 1 }), { shows: owners }),
      change('scaler', 'merge', `${DEPLOYMENTS}/s1/scale`, { spec: { replicas: 2 } }, { shows: 'code' }),
      read(`${DEPLOYMENTS}/s1`, { shows: owners }),
    ),
    each(
      'scale by apply',
      apply('m1', `${DEPLOYMENTS}/s2`, whole('s2'), { shows: owners }),
      apply('scaler', `${DEPLOYMENTS}/s2/scale`, scaleOf('s2', 3), { shows: ['spec'] }),
      read(`${DEPLOYMENTS}/s2`, { shows: owners }),
      apply('m1', `${DEPLOYMENTS}/s2`, whole('s2', { replicas: 5 }), { shows: owners }),
    ),
    each(
      'scale by apply against an owner',
      apply('m1', `${DEPLOYMENTS}/s3`, whole('s3', { replicas: 1 }), { shows: owners }),
      apply('scaler', `${DEPLOYMENTS}/s3/scale`, scaleOf('s3', 3), { shows: ['spec'] }),
      force('scaler', `${DEPLOYMENTS}/s3/scale`, scaleOf('s3', 3), { shows: ['spec'] }),
      read(`${DEPLOYMENTS}/s3`, { shows: owners }),
    ),
    each(
      'scale against an updater',
      make('m0', DEPLOYMENTS, whole('s4', { replicas: 1 }), { shows: 'code' }),
      apply('scaler', `${DEPLOYMENTS}/s4/scale`, scaleOf('s4', 3), { shows: ['spec'] }),
    ),
    each(
      'scale after apply conflicts',
      apply('m1', `${DEPLOYMENTS}/s5`, whole('s5', { replicas: 1 }), { shows: owners }),
      change('scaler', 'merge', `${DEPLOYMENTS}/s5/scale`, { spec: { replicas: 2 } }, { shows: 'code' }),
      apply('m1', `${DEPLOYMENTS}/s5`, whole('s5', { replicas: 1 }), { shows: owners }),
      apply('m1', `${DEPLOYMENTS}/s5`, whole('s5'), { shows: owners }),
    ),
    each(
      'status of a deployment',
      make('m0', DEPLOYMENTS, whole('t1'), { shows: 'code' }),
      change(
        'ctl',
        'merge',
        `${DEPLOYMENTS}/t1/status`,
        {
          metadata: { labels: { l: 'm' } },
          status: { observedGeneration: 1, conditions: [{ type: 'Available', status: 'True' }] },
        },
        { shows: owners },
      ),
      apply('c2', `${DEPLOYMENTS}/t1/status`, deployment('t1', {}), { shows: owners }),
    ),
    each(
      'status of a node',
      post(NODES, core('Node', 'contract-t2'), { shows: 'code' }),
      change(
        'kubelet',
        'strategic',
        `${NODES}/contract-t2/status`,
        {
          status: {
            conditions: [{ type: 'Ready', status: 'True' }],
            addresses: [{ type: 'Hostname', address: 'x' }],
            capacity: { cpu: '1' },
            images: [{ names: ['a'], sizeBytes: 3 }],
          },
        },
        { shows: owners },
      ),
      remove(`${NODES}/contract-t2`, undefined, { shows: 'code' }),
    ),
    each(
      'status of a claim',
      post(
        CLAIMS,
        core('PersistentVolumeClaim', 't3', {
          spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'x', resources: { requests: { storage: '1Gi' } } },
        }),
        { shows: 'code' },
      ),
      change(
        'ctl',
        'merge',
        `${CLAIMS}/t3/status`,
        { status: { phase: 'Bound', capacity: { storage: '1Gi' } } },
        { shows: owners },
      ),
    ),
    each(
      'status of a service',
      post(SERVICES, core('Service', 't4', { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }), {
        shows: 'code',
      }),
      change(
        'ctl',
        'merge',
        `${SERVICES}/t4/status`,
        { status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } },
        { shows: owners },
      ),
    ),
    each(
      'status of a job',
      post(`${BATCH}/jobs`, kinds[5]?.object('t5'), { shows: 'code' }),
      change(
        'ctl',
        'merge',
        `${BATCH}/jobs/t5/status`,
        { status: { uncountedTerminatedPods: { succeeded: ['11111111-1111-1111-1111-111111111111'] } } },
        { shows: owners },
      ),
    ),
    each(
      'events of both groups',
      make(
        'm0',
        '/api/v1/namespaces/$(ns)/events',
        core('Event', 'ev1', {
          involvedObject: { kind: 'Pod', name: 'x', namespace: '$(ns)' },
          reason: 'R',
          message: 'm',
          type: 'Normal',
        }),
        { shows: owners },
      ),
      change('m1', 'merge', '/apis/events.k8s.io/v1/namespaces/$(ns)/events/ev1', { note: 'n' }, { shows: 'code' }),
      apply('m2', '/api/v1/namespaces/$(ns)/events/ev1', core('Event', 'ev1', { message: 'q' }), { shows: owners }),
    ),
    each(
      'one of two ports of a service',
      apply(
        'm1',
        `${SERVICES}/u1`,
        core('Service', 'u1', {
          spec: {
            ports: [
              { name: 'a', port: 80 },
              { name: 'b', port: 81 },
            ],
          },
        }),
        { shows: owners },
      ),
      apply('m2', `${SERVICES}/u1`, core('Service', 'u1', { spec: { ports: [{ name: 'c', port: 82 }] } }), {
        shows: ['spec.ports.*.name'],
      }),
      apply('m1', `${SERVICES}/u1`, core('Service', 'u1', { spec: { ports: [{ name: 'b', port: 81 }] } }), {
        shows: ['spec.ports.*.name'],
      }),
    ),
    each(
      'a template in parts',
      apply('m1', `${DEPLOYMENTS}/u2`, whole('u2'), { shows: 'code' }),
      apply(
        'm2',
        `${DEPLOYMENTS}/u2`,
        deployment('u2', {
          template: {
            metadata: { annotations: { a: 'b' } },
            spec: {
              containers: [
                { name: 'main', env: [{ name: 'X', value: '1' }] },
                { name: 'side', image: 'registry.test/side' },
              ],
            },
          },
        }),
      ),
      apply(
        'm2',
        `${DEPLOYMENTS}/u2`,
        deployment('u2', { template: { spec: { containers: [{ name: 'side', image: 'registry.test/side' }] } } }),
      ),
      apply('m2', `${DEPLOYMENTS}/u2`, of('apps/v1', 'Deployment', 'u2')),
    ),
    each(
      'a default comes back',
      apply('m1', `${DEPLOYMENTS}/u3`, whole('u3', { revisionHistoryLimit: 3 }), {
        shows: ['spec.revisionHistoryLimit'],
      }),
      apply('m1', `${DEPLOYMENTS}/u3`, whole('u3'), { shows: ['spec.revisionHistoryLimit'] }),
    ),
    each(
      'containers in another order',
      apply(
        'm1',
        `${DEPLOYMENTS}/u4`,
        whole('u4', {
          template: {
            metadata: { labels: { app: 'x' } },
            spec: {
              containers: [
                { name: 'a', image: 'i' },
                { name: 'b', image: 'i' },
                { name: 'c', image: 'i' },
              ],
            },
          },
        }),
        { shows: ['spec.template.spec.containers.*.name'] },
      ),
      apply(
        'm1',
        `${DEPLOYMENTS}/u4`,
        whole('u4', {
          template: {
            metadata: { labels: { app: 'x' } },
            spec: {
              containers: [
                { name: 'c', image: 'i' },
                { name: 'a', image: 'i' },
                { name: 'd', image: 'i' },
                { name: 'b', image: 'i' },
              ],
            },
          },
        }),
        { shows: ['spec.template.spec.containers.*.name'] },
      ),
    ),
    each(
      'items of another stay in place',
      apply(
        'm1',
        `${DEPLOYMENTS}/u5`,
        whole('u5', {
          template: {
            metadata: { labels: { app: 'x' } },
            spec: {
              containers: [
                { name: 'a', image: 'i' },
                { name: 'x', image: 'i' },
                { name: 'b', image: 'i' },
              ],
            },
          },
        }),
        { shows: 'code' },
      ),
      apply(
        'm2',
        `${DEPLOYMENTS}/u5`,
        deployment('u5', {
          template: {
            spec: {
              containers: [
                { name: 'b', image: 'i' },
                { name: 'n', image: 'i' },
                { name: 'a', image: 'i' },
              ],
            },
          },
        }),
        { shows: ['spec.template.spec.containers.*.name'] },
      ),
    ),
  ],
}
