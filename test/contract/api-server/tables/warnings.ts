/** Advice that comes with an answer: what is old, does nothing, or is said twice. */
import { each, post } from '../contract-case.ts'
import type { ContractTable } from '../contract-case.ts'
import { CLAIMS, container, core, of, pod, PODS, SECRETS, SERVICES, VOLUMES } from './objects.ts'

type Fields = Readonly<Record<string, unknown>>

const shown = { shows: ['kind'] }
const ofPod = (name: string, spec: Fields, metadata: Fields = {}) =>
  each(name, post(`${PODS}?dryRun=All`, pod('a', spec, metadata), shown))
const ofContainer = (name: string, fields: Fields) => ofPod(name, { containers: [container(fields)] })
const ofService = (name: string, spec: Fields, metadata: Fields = {}) =>
  each(
    name,
    post(`${SERVICES}?dryRun=All`, core('Service', 'a', { spec: { ports: [{ port: 80 }], ...spec } }, metadata), shown),
  )

const ports = (...list: readonly Fields[]) => ({ ports: list })
const key = (path: string) => ({ key: path, path })
const affinity = (kind: string) => ({
  [kind]: {
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }],
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 1, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname' } },
    ],
  },
})
const oldTerm = { matchExpressions: [{ key: 'beta.kubernetes.io/arch', operator: 'Exists' }] }
const template = {
  metadata: { labels: { a: 'b' }, annotations: { 'security.alpha.kubernetes.io/sysctls': '' } },
  spec: { containers: [container()], nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
}
const ofWorkload = (name: string, kind: string, plural: string, spec: Fields, objectName = 'a') =>
  each(
    name,
    post(
      `/apis/apps/v1/namespaces/$(ns)/${plural}?dryRun=All`,
      of('apps/v1', kind, objectName, { spec: { selector: { matchLabels: { a: 'b' } }, template, ...spec } }),
      shown,
    ),
  )
const jobTemplate = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } }
const batch = (name: string, kind: string, plural: string, spec: Fields, objectName = 'a') =>
  each(
    name,
    post(`/apis/batch/v1/namespaces/$(ns)/${plural}?dryRun=All`, of('batch/v1', kind, objectName, { spec }), shown),
  )
const base64 = (text: string) => Buffer.from(text).toString('base64')
const claim = (size: string, metadata: Fields = {}) =>
  core(
    'PersistentVolumeClaim',
    'a',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } } },
    metadata,
  )
const volume = (spec: Fields, metadata: Fields = {}) =>
  core(
    'PersistentVolume',
    'contract-a',
    { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/a' }, ...spec } },
    metadata,
  )

export const warnings: ContractTable = {
  name: 'warnings',
  cases: [
    ofPod('nothing to say', {}),
    ofPod('old labels of nodes', {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [oldTerm] },
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: oldTerm }],
        },
      },
    }),
    ofPod('spread by an old label and over no pod', {
      topologySpreadConstraints: [
        { maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', topologyKey: 'failure-domain.beta.kubernetes.io/zone' },
      ],
    }),
    ofPod('affinity to no pod', { affinity: { ...affinity('podAffinity'), ...affinity('podAntiAffinity') } }),
    ofPod(
      'annotations for seccomp',
      {},
      {
        annotations: {
          'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default',
          'container.seccomp.security.alpha.kubernetes.io/main': 'runtime/default',
        },
      },
    ),
    ofPod('kinds of volumes that are gone', {
      volumes: [
        { name: 'a', gitRepo: { repository: 'r' } },
        { name: 'b', glusterfs: { endpoints: 'e', path: 'p' } },
        { name: 'c', rbd: { monitors: ['m'], image: 'i' } },
        { name: 'd', cephfs: { monitors: ['m'] } },
        { name: 'e', flocker: { datasetName: 'd' } },
      ],
    }),
    ofPod('files in one place', {
      volumes: [
        { name: 'a', configMap: { name: 'm', items: [key('x'), { key: 'y', path: 'x/y' }] } },
        { name: 'b', secret: { secretName: 's', items: [key('x'), { key: 'y', path: 'x' }] } },
        { name: 'c', downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'metadata.name' } }] } },
      ],
    }),
    ofPod('files in one place of a projected volume', {
      volumes: [
        {
          name: 'a',
          projected: {
            sources: [
              { configMap: { name: 'm', items: [key('x')] } },
              { secret: { name: 's', items: [{ key: 'y', path: 'x/y' }] } },
              { serviceAccountToken: { path: 'token' } },
            ],
          },
        },
      ],
    }),
    ofPod('a claim of half bytes', {
      volumes: [
        {
          name: 'a',
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '500m' } } },
            },
          },
        },
      ],
    }),
    ofPod('two aliases of an address', {
      hostAliases: [
        { ip: '10.0.0.1', hostnames: ['a'] },
        { ip: '10.0.0.1', hostnames: ['b'] },
      ],
    }),
    ofPod('two equal pull secrets', { imagePullSecrets: [{ name: 'a' }, { name: 'a' }, {}] }),
    ofPod('addresses in another form', {
      hostAliases: [{ ip: '2001:DB8:0::1', hostnames: ['a'] }],
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['2001:db8:0::2'] },
    }),
    ofContainer('half bytes', {
      resources: {
        requests: { memory: '100m', 'ephemeral-storage': '1500m' },
        limits: { memory: '1.5', 'ephemeral-storage': '1500m' },
      },
    }),
    ofContainer('two equal ports', ports({ containerPort: 80 }, { containerPort: 80 })),
    ofContainer(
      'a port with and without one of the host',
      ports({ containerPort: 80, hostPort: 80 }, { containerPort: 80 }),
    ),
    ofContainer(
      'a port of all addresses and of one',
      ports({ containerPort: 80, hostPort: 8080 }, { containerPort: 80, hostPort: 8080, hostIP: '10.0.0.1' }),
    ),
    ofPod('two ports of one name', {
      containers: [
        container(ports({ name: 'http', containerPort: 80 })),
        container({ name: 'other', ...ports({ name: 'http', containerPort: 81 }) }),
      ],
    }),
    ofPod('a negative grace', { terminationGracePeriodSeconds: -5 }),
    ofWorkload('deployment', 'Deployment', 'deployments', {}),
    ofWorkload('deployment with a name that is no label', 'Deployment', 'deployments', {}, 'a.b'),
    ofWorkload('replica set', 'ReplicaSet', 'replicasets', {}),
    ofWorkload('daemon set', 'DaemonSet', 'daemonsets', {}, 'a.b'),
    ofWorkload('stateful set', 'StatefulSet', 'statefulsets', {
      serviceName: 's',
      volumeClaimTemplates: [
        {
          metadata: { name: 'a' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '500m' } } },
        },
      ],
    }),
    batch('job', 'Job', 'jobs', { template: jobTemplate }),
    batch('cron job', 'CronJob', 'cronjobs', {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: jobTemplate } },
    }),
    each('claim', post(`${CLAIMS}?dryRun=All`, claim('1500m'), shown)),
    each(
      'claim with an old annotation',
      post(
        `${CLAIMS}?dryRun=All`,
        claim('1Gi', { annotations: { 'volume.beta.kubernetes.io/storage-class': 'a' } }),
        shown,
      ),
    ),
    each(
      'volume',
      post(
        `${VOLUMES}?dryRun=All`,
        volume(
          {
            persistentVolumeReclaimPolicy: 'Recycle',
            nodeAffinity: { required: { nodeSelectorTerms: [oldTerm] } },
          },
          { annotations: { 'volume.beta.kubernetes.io/storage-class': 'a' } },
        ),
        shown,
      ),
    ),
    ofService('headless service with what it does not have', {
      clusterIP: 'None',
      externalIPs: ['9.9.9.9'],
      sessionAffinity: 'ClientIP',
    }),
    ofService('service of another name, with addresses', {
      type: 'ExternalName',
      externalName: 'example.com',
      externalIPs: ['9.9.9.9'],
    }),
    ofService('service with a name for nothing', { externalName: 'example.com' }),
    ofService(
      'service with old ways',
      { trafficDistribution: 'PreferClose' },
      {
        annotations: { 'service.kubernetes.io/topology-aware-hints': 'auto' },
      },
    ),
    each(
      'secret with a certificate that is none',
      post(
        `${SECRETS}?dryRun=All`,
        core('Secret', 'a', {
          type: 'kubernetes.io/tls',
          data: { 'tls.crt': base64('none'), 'tls.key': base64('none') },
        }),
        shown,
      ),
    ),
  ],
}
