import { selfSigned } from '../fixtures/self-signed.ts'
import { BUSYBOX, deployment, jobSpec, object, serve, service } from './manifests.ts'

export const SHOP_HOST = 'shop.example'
export const CHART = 'chart'
const LABELS = { 'app.kubernetes.io/instance': CHART, 'app.kubernetes.io/managed-by': 'Helm' }
const READY = { readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 } }
const RULES_OF_WIDGETS = [
  { apiGroups: ['shop.example'], resources: ['widgets', 'widgets/status'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'patch'] },
]

const base64 = (text: string) => Buffer.from(text).toString('base64')
const named = (apiVersion: string, kind: string, name: string, rest: object = {}) =>
  object({ apiVersion, kind, metadata: { name }, ...rest })

/** A database with a claim of its own behind a headless Service, and a web application that waits for it. */
function webApplication(): string {
  const database = {
    name: 'main',
    image: BUSYBOX,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', `echo "$PASSWORD" >> /data/index.html; exec httpd -f -p 8080 -h /data`],
    env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } }],
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
    ...READY,
  }
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } }
  const wait = 'until wget -q -T 2 -O - http://db-0.db:8080/; do sleep 1; done'
  return [
    named('v1', 'Secret', 'db', { type: 'Opaque', data: { password: base64('secret') } }),
    named('v1', 'Service', 'db', { spec: { clusterIP: 'None', selector: { app: 'db' }, ports: [{ port: 8080 }] } }),
    named('apps/v1', 'StatefulSet', 'db', {
      spec: {
        serviceName: 'db',
        selector: { matchLabels: { app: 'db' } },
        template: {
          metadata: { labels: { app: 'db' } },
          spec: { terminationGracePeriodSeconds: 1, containers: [database] },
        },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
      },
    }),
    named('v1', 'ConfigMap', 'web', { data: { title: 'the shop' } }),
    deployment('web', serve('{ cat /etc/web/title; echo; wget -q -T 3 -O - http://db:8080/; }'), {
      replicas: 2,
      spec: {
        initContainers: [
          { name: 'wait', image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', wait] },
        ],
        volumes: [{ name: 'config', configMap: { name: 'web' } }],
      },
      container: { ...READY, volumeMounts: [{ name: 'config', mountPath: '/etc/web' }] },
    }),
    service('web'),
  ].join('')
}

function ingress(): string {
  const { cert, key } = selfSigned
  const backend = { service: { name: 'web', port: { number: 80 } } }
  return [
    named('v1', 'Secret', 'shop-tls', {
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': base64(cert), 'tls.key': base64(key) },
    }),
    named('networking.k8s.io/v1', 'Ingress', 'shop', {
      spec: {
        tls: [{ hosts: [SHOP_HOST], secretName: 'shop-tls' }],
        rules: [{ host: SHOP_HOST, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
      },
    }),
  ].join('')
}

/** A worker, and reports that are made by the clock; tests do not wait for it. */
function worker(): string {
  const report = 'for i in 1 2 3 4 5; do wget -q -T 3 -O - http://worker/ && exit 0; sleep 1; done; exit 1'
  return [
    deployment('worker', serve('echo work'), { container: READY }),
    service('worker'),
    named('batch/v1', 'CronJob', 'report', { spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: jobSpec(report) } } }),
  ].join('')
}

function monitoring(): string {
  const agent = {
    name: 'main',
    image: BUSYBOX,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', 'echo "on $NODE with $(grep -c ^processor /host/proc/cpuinfo) cpus"; exec sleep 100000'],
    env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
    volumeMounts: [{ name: 'proc', mountPath: '/host/proc', readOnly: true }],
  }
  const spec = {
    terminationGracePeriodSeconds: 1,
    hostNetwork: true,
    tolerations: [{ operator: 'Exists' }],
    containers: [agent],
    volumes: [{ name: 'proc', hostPath: { path: '/proc' } }],
  }
  const template = { metadata: { labels: { app: 'monitor' } }, spec }
  return named('apps/v1', 'DaemonSet', 'monitor', { spec: { selector: { matchLabels: { app: 'monitor' } }, template } })
}

/** For each Widget a ConfigMap of its size; it talks to the API as any operator does, with the machine's kubectl as its library. */
function operator(): string {
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer', minimum: 1 } } },
      status: { type: 'object', properties: { phase: { type: 'string' } } },
    },
  }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: { openAPIV3Schema: schema },
  }
  const loop = `k="kubectl --cache-dir=/tmp/cache"
while :; do
  for w in $($k get widgets -o name); do
    n=\${w#*/}
    $k create configmap made-$n --from-literal=size=$($k get $w -o 'jsonpath={.spec.size}') --dry-run=client -o yaml | $k apply -f - &&
      $k patch $w --subresource=status --type=merge -p '{"status":{"phase":"Made"}}'
  done
  sleep 2
done`
  const folders = { usr: '/usr', lib: '/lib', lib64: '/lib64' }
  const subjects = [{ kind: 'ServiceAccount', name: 'operator', namespace: 'default' }]
  return [
    named('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'widgets.shop.example', {
      spec: {
        group: 'shop.example',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [version],
      },
    }),
    named('v1', 'ServiceAccount', 'operator'),
    named('rbac.authorization.k8s.io/v1', 'ClusterRole', 'operator', { rules: RULES_OF_WIDGETS }),
    named('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'operator', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'operator' },
      subjects,
    }),
    deployment('operator', loop, {
      spec: {
        serviceAccountName: 'operator',
        volumes: Object.entries(folders).map(([name, path]) => ({ name, hostPath: { path } })),
      },
      container: {
        volumeMounts: Object.entries(folders).map(([name, mountPath]) => ({ name, mountPath, readOnly: true })),
      },
    }),
    widget('blue', 3),
  ].join('')
}

export function widget(name: string, size: number): string {
  return named('shop.example/v1', 'Widget', name, { spec: { size } })
}

/** As a chart is rendered: 30 objects of many kinds in one file, in a namespace of their own, all with its labels. */
export function renderedChart(): readonly object[] {
  const place = (name: string) => ({ name, namespace: CHART, labels: LABELS })
  const of = (apiVersion: string, kind: string, name: string, rest: object = {}) => ({
    apiVersion,
    kind,
    metadata: place(name),
    ...rest,
  })
  const parts = ['api', 'cache', 'queue', 'front'].flatMap((name) => {
    const matchLabels = { app: name }
    const container = {
      name: 'main',
      image: BUSYBOX,
      imagePullPolicy: 'IfNotPresent',
      command: ['sh', '-c', serve(`echo ${name}`)],
      envFrom: [{ configMapRef: { name } }, { secretRef: { name } }],
      resources: { requests: { cpu: '5m', memory: '8Mi' } },
      ...READY,
    }
    const spec = { serviceAccountName: name, terminationGracePeriodSeconds: 1, containers: [container] }
    const template = { metadata: { labels: { ...LABELS, ...matchLabels } }, spec }
    return [
      of('v1', 'ServiceAccount', name),
      of('v1', 'ConfigMap', name, { data: { LEVEL: 'info' } }),
      of('v1', 'Secret', name, { stringData: { KEY: name } }),
      of('v1', 'Service', name, {
        spec: { selector: matchLabels, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
      }),
      of('apps/v1', 'Deployment', name, { spec: { selector: { matchLabels }, template } }),
      of('policy/v1', 'PodDisruptionBudget', name, { spec: { maxUnavailable: 1, selector: { matchLabels } } }),
    ]
  })
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'front' }
  const cpu = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } }
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: CHART, labels: LABELS } },
    ...parts,
    of('rbac.authorization.k8s.io/v1', 'Role', 'api', {
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }],
    }),
    of('rbac.authorization.k8s.io/v1', 'RoleBinding', 'api', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'api' },
      subjects: [{ kind: 'ServiceAccount', name: 'api', namespace: CHART }],
    }),
    of('autoscaling/v2', 'HorizontalPodAutoscaler', 'front', {
      spec: { scaleTargetRef: target, maxReplicas: 2, metrics: [{ type: 'Resource', resource: cpu }] },
    }),
    of('v1', 'PersistentVolumeClaim', 'spool', {
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } },
    }),
    of('batch/v1', 'Job', 'migrate', {
      spec: jobSpec('echo migrated > /spool/done', {
        spec: { volumes: [{ name: 'spool', persistentVolumeClaim: { claimName: 'spool' } }] },
        container: { volumeMounts: [{ name: 'spool', mountPath: '/spool' }] },
      }),
    }),
  ]
}

/** The files of the folder, by their names. */
export const stackFiles: Readonly<Record<string, string>> = {
  'web/application.yaml': webApplication(),
  'web/ingress.yaml': ingress(),
  'worker.yaml': worker(),
  'monitoring.yaml': monitoring(),
  'operator.yaml': operator(),
  'chart.yaml': renderedChart().map(object).join(''),
}
