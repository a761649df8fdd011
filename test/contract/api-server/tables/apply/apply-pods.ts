import { each, get, post } from '../../contract-case.ts'
import type { ContractTable } from '../../contract-case.ts'
import { container, core, PODS, pod } from '../objects.ts'
import { apply, change, force, make, owned, read, replace } from './owned.ts'

const at = (name: string) => `${PODS}/${name}`
const spec = (name: string, fields: object, metadata: object = {}) => pod(name, fields as never, metadata as never)
const one = (name: string, fields: object, others: object = {}) =>
  spec(name, { containers: [container(fields as never)], ...others })
const only = (name: string, containers: readonly object[]) => core('Pod', name, { spec: { containers } })
const status = (name: string, fields: object) => core('Pod', name, { status: fields })

/** A pod that is made by POST shows the owner of every kind of field. */
const made: readonly (readonly [string, object, object?])[] = [
  ['plain', {}],
  ['command', { command: ['a'], args: ['b'], workingDir: '/x' }],
  [
    'environment',
    {
      env: [
        { name: 'A', value: '1' },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
      envFrom: [{ configMapRef: { name: 'x' } }],
    },
  ],
  ['ports', { ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }] }],
  ['resources', { resources: { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '1' } } }],
  [
    'probes',
    {
      livenessProbe: { httpGet: { port: 80, path: '/x', httpHeaders: [{ name: 'A', value: 'b' }] } },
      readinessProbe: { tcpSocket: { port: 'web' } },
      ports: [{ name: 'web', containerPort: 80 }],
    },
  ],
  ['a probe by command', { startupProbe: { exec: { command: ['x'] }, periodSeconds: 3 } }],
  ['a probe by gRPC', { livenessProbe: { grpc: { port: 90 } } }],
  ['hooks', { lifecycle: { preStop: { exec: { command: ['x'] } }, postStart: { httpGet: { port: 80 } } } }],
  [
    'security',
    {
      securityContext: {
        runAsUser: 1,
        capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' },
      },
    },
  ],
  ['an empty context', { securityContext: {} }],
  [
    'mounts',
    {
      volumeMounts: [
        { name: 'v', mountPath: '/a' },
        { name: 'v', mountPath: '/b', subPath: 'c', readOnly: true },
      ],
    },
    { volumes: [{ name: 'v', emptyDir: {} }] },
  ],
  [
    'a mount with an ampersand',
    { volumeMounts: [{ name: 'v', mountPath: '/a&b<c>' }] },
    { volumes: [{ name: 'v', emptyDir: {} }] },
  ],
  [
    'volumes',
    { volumeMounts: [] },
    {
      volumes: [
        { name: 'a', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
        { name: 'b', configMap: { name: 'x', items: [{ key: 'a', path: 'b' }] } },
        { name: 'c', secret: { secretName: 'y' } },
        { name: 'd', hostPath: { path: '/x' } },
        { name: 'e', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
        { name: 'f', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      ],
    },
  ],
  [
    'a context of the pod',
    {},
    {
      securityContext: {
        fsGroup: 5,
        runAsNonRoot: true,
        supplementalGroups: [1],
        sysctls: [{ name: 'a.b', value: '1' }],
      },
    },
  ],
  [
    'names',
    {},
    {
      hostname: 'a',
      subdomain: 'b',
      hostAliases: [{ ip: '10.1.1.1', hostnames: ['x'] }],
      dnsConfig: { nameservers: ['1.1.1.1'], options: [{ name: 'ndots', value: '2' }] },
      dnsPolicy: 'None',
    },
  ],
  [
    'placement',
    {},
    {
      nodeSelector: { a: 'b' },
      tolerations: [{ key: 'a', operator: 'Exists' }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
          },
        },
      },
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
    },
  ],
  [
    'gates and deadlines',
    {},
    {
      schedulingGates: [{ name: 'a.test/b' }],
      activeDeadlineSeconds: 5,
      terminationGracePeriodSeconds: 0,
      restartPolicy: 'Never',
    },
  ],
  ['pull secrets', { imagePullPolicy: 'Never' }, { imagePullSecrets: [{ name: 'a' }] }],
  [
    'init containers',
    {},
    {
      initContainers: [
        { name: 'i', image: 'registry.test/i', restartPolicy: 'Always' },
        { name: 'j', image: 'registry.test/j' },
      ],
    },
  ],
  [
    'switches',
    { stdin: true, tty: true, stdinOnce: false },
    { hostNetwork: false, shareProcessNamespace: true, enableServiceLinks: false },
  ],
  ['a readiness gate', {}, { readinessGates: [{ conditionType: 'a.test/b' }], os: { name: 'linux' } }],
]

/** Applies to pods: lists that are merged by their keys, and those that are one value. */
export const applyPods: ContractTable = {
  name: 'apply-pods',
  cases: [
    ...made.map(([name, fields, others], index) =>
      each(`POST: ${name}`, make('m0', PODS, one(`post-${index}`, fields, others))),
    ),
    ...made.map(([name, fields, others], index) =>
      each(
        `apply: ${name}`,
        apply('m1', at(`new-${index}`), one(`new-${index}`, fields, others)),
        apply('m1', at(`new-${index}`), one(`new-${index}`, fields, others)),
      ),
    ),
    each(
      'a second container',
      make('m0', PODS, pod('b1', { containers: [container(), container({ name: 'side' })] })),
      apply('m1', at('b1'), only('b1', [{ name: 'side', image: 'registry.test/app:1' }])),
      apply('m1', at('b1'), only('b1', [{ name: 'side', image: 'registry.test/app:2' }])),
    ),
    each(
      'an image that another owns',
      apply('m1', at('b2'), pod('b2')),
      apply('m2', at('b2'), only('b2', [{ name: 'main', image: 'registry.test/app:2' }])),
      force('m2', at('b2'), only('b2', [{ name: 'main', image: 'registry.test/app:2' }])),
    ),
    each(
      'an image that is given up',
      apply('m1', at('b3'), pod('b3')),
      force('m2', at('b3'), only('b3', [{ name: 'main', image: 'registry.test/app:2' }])),
      apply('m2', at('b3'), core('Pod', 'b3')),
      read(at('b3')),
    ),
    each(
      'tolerations are one value',
      apply('m1', at('b4'), spec('b4', { tolerations: [{ key: 'a', operator: 'Exists' }] })),
      apply(
        'm2',
        at('b4'),
        core('Pod', 'b4', {
          spec: {
            tolerations: [
              { key: 'a', operator: 'Exists' },
              { key: 'b', operator: 'Exists' },
            ],
          },
        }),
      ),
    ),
    each(
      'labels and annotations of a pod',
      apply('m1', at('b5'), spec('b5', {}, { labels: { a: '1' }, annotations: { b: '2' } })),
      apply('m2', at('b5'), core('Pod', 'b5', {}, { labels: { c: '3' } })),
      apply('m1', at('b5'), pod('b5')),
    ),
    each(
      'a deadline',
      apply('m1', at('b6'), pod('b6')),
      apply('m2', at('b6'), core('Pod', 'b6', { spec: { activeDeadlineSeconds: 100 } })),
      apply('m3', at('b6'), core('Pod', 'b6', { spec: { activeDeadlineSeconds: 50 } })),
      force('m3', at('b6'), core('Pod', 'b6', { spec: { activeDeadlineSeconds: 50 } })),
    ),
    each(
      'status in the object is ignored',
      apply('m1', at('b7'), { ...pod('b7'), status: { phase: 'Failed', message: 'x' } }),
      apply('m1', at('b7'), { ...pod('b7'), status: { phase: 'Failed' } }),
    ),
    each(
      'status by apply',
      apply('m1', at('b8'), pod('b8')),
      apply(
        'k1',
        `${at('b8')}/status`,
        status('b8', { message: 'hello', conditions: [{ type: 'a.test/b', status: 'True' }] }),
      ),
      apply('k2', `${at('b8')}/status`, status('b8', { message: 'other' })),
      apply('k2', `${at('b8')}/status`, status('b8', { conditions: [{ type: 'c.test/d', status: 'False' }] })),
      apply('k1', `${at('b8')}/status`, status('b8', { message: 'hello' })),
    ),
    each(
      'status by a patch',
      post(PODS, pod('b9'), { shows: 'code' }),
      change('kubelet', 'strategic', `${at('b9')}/status`, {
        status: {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
          podIP: '10.1.1.1',
          podIPs: [{ ip: '10.1.1.1' }],
        },
      }),
      change('kubelet', 'strategic', `${at('b9')}/status`, {
        status: { conditions: [{ type: 'Ready', status: 'False' }] },
      }),
      apply('k1', `${at('b9')}/status`, status('b9', { phase: 'Failed' })),
    ),
    each(
      'status of containers',
      post(PODS, pod('c1'), { shows: 'code' }),
      change('kubelet', 'merge', `${at('c1')}/status`, {
        status: {
          containerStatuses: [
            {
              name: 'main',
              image: 'x',
              imageID: 'y',
              ready: false,
              restartCount: 0,
              state: { waiting: { reason: 'Z' } },
            },
          ],
        },
      }),
    ),
    each(
      'labels through the status',
      post(PODS, pod('c2'), { shows: 'code' }),
      change('k1', 'merge', `${at('c2')}/status`, { metadata: { labels: { a: 'b' } }, status: { message: 'x' } }),
      apply('k2', `${at('c2')}/status`, core('Pod', 'c2', { status: { reason: 'y' } }, { labels: { c: 'd' } })),
    ),
    each(
      'spec through the status',
      apply('m1', at('c3'), pod('c3')),
      apply('k1', `${at('c3')}/status`, { ...pod('c3', { activeDeadlineSeconds: 3 }), status: { message: 'x' } }),
    ),
    each(
      'owners through the status',
      apply('m1', at('c4'), pod('c4')),
      change('k1', 'merge', `${at('c4')}/status`, { metadata: { managedFields: [{}] }, status: { message: 'x' } }),
    ),
    each(
      'ephemeral containers',
      make('m0', PODS, pod('c5')),
      change('debugger', 'strategic', `${at('c5')}/ephemeralcontainers`, {
        spec: { ephemeralContainers: [{ name: 'd', image: 'registry.test/d' }] },
      }),
    ),
    each(
      'ephemeral containers by apply',
      apply('m1', at('c6'), pod('c6')),
      apply(
        'debugger',
        `${at('c6')}/ephemeralcontainers`,
        core('Pod', 'c6', { spec: { ephemeralContainers: [{ name: 'd', image: 'registry.test/d' }] } }),
      ),
    ),
    each(
      'a resize',
      make('m0', PODS, one('c7', { resources: { requests: { cpu: '100m' } } })),
      change('sizer', 'strategic', `${at('c7')}/resize`, {
        spec: { containers: [{ name: 'main', resources: { requests: { cpu: '200m' } } }] },
      }),
      apply(
        'other',
        `${at('c7')}/resize`,
        core('Pod', 'c7', { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '300m' } } }] } }),
      ),
    ),
    each(
      'a binding has no owner',
      post(PODS, pod('c8', {}, { labels: { x: 'y' } }), { shows: 'code' }),
      post(`${at('c8')}/binding`, core('Binding', 'c8', { target: { kind: 'Node', name: 'node-1' } }), {
        shows: 'code',
      }),
      get(at('c8'), { shows: owned }),
    ),
    each(
      'a PUT of a label',
      make('m0', PODS, pod('c9'), { keep: 'pod' }),
      replace('m1', at('c9'), { ...pod('c9', {}, { labels: { a: 'b' } }), spec: '$(pod.spec)' }, { shows: 'code' }),
    ),
    each(
      'ports in another order',
      apply('m1', at('d1'), one('d1', { ports: [{ containerPort: 80 }, { containerPort: 81 }] })),
      apply('m1', at('d1'), one('d1', { ports: [{ containerPort: 81 }, { containerPort: 80 }] }), { shows: 'code' }),
    ),
    each(
      'one port in two protocols',
      apply(
        'm1',
        at('d2'),
        one('d2', {
          ports: [
            { containerPort: 53, protocol: 'TCP' },
            { containerPort: 53, protocol: 'UDP' },
          ],
        }),
      ),
    ),
    each(
      'quantities that mean the same',
      apply('m1', at('d3'), one('d3', { resources: { requests: { cpu: '1000m' } } })),
      apply('m1', at('d3'), one('d3', { resources: { requests: { cpu: '1000m' } } })),
      apply('m2', at('d3'), only('d3', [{ name: 'main', resources: { requests: { cpu: '1000m' } } }])),
      apply('m2', at('d3'), only('d3', [{ name: 'main', resources: { requests: { cpu: '1' } } }])),
    ),
    each(
      'defaults that are applied',
      post(PODS, pod('d4'), { shows: 'code' }),
      apply('m1', at('d4'), core('Pod', 'd4', { spec: { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' } })),
      apply('m2', at('d4'), core('Pod', 'd4', { spec: { restartPolicy: 'Never' } })),
    ),
    each(
      'variables that POST made twice',
      make(
        'm0',
        PODS,
        one('d5', {
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '2' },
          ],
        }),
      ),
      apply('m1', at('d5'), core('Pod', 'd5', {}, { labels: { a: 'b' } })),
    ),
  ],
}
