import { each, post } from '../contract-case.ts'
import type { ContractTable } from '../contract-case.ts'
import { container, pod, PODS, podOf } from './objects.ts'

type Fields = Readonly<Record<string, unknown>>

const probe = { httpGet: { port: 80 } }
const secretVolume = (fields: Fields) => [{ name: 'v', ...fields }]

/** What a pod gets besides what it is sent with. */
const specs: Readonly<Record<string, object>> = {
  'nothing but a container': pod('a'),
  'image without a tag is always pulled': podOf('a', { image: 'registry.test/app' }),
  'image with the tag latest is always pulled': podOf('a', { image: 'registry.test/app:latest' }),
  'image with a tag is pulled when absent': podOf('a', { image: 'registry.test/app:2' }),
  'image by digest is pulled when absent': podOf('a', {
    image: `registry.test/app@sha256:${'0'.repeat(64)}`,
  }),
  'image on a registry with a port': podOf('a', { image: 'registry.test:5000/app' }),
  ports: podOf('a', { ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }] }),
  'ports of the host network': podOf('a', { ports: [{ containerPort: 80 }] }, { hostNetwork: true }),
  'host network': pod('a', { hostNetwork: true }),
  'host users off': pod('a', { hostUsers: false }),
  'liveness probe by HTTP': podOf('a', { livenessProbe: probe }),
  'readiness probe by TCP': podOf('a', {
    readinessProbe: { tcpSocket: { port: 'web' } },
    ports: [{ containerPort: 1, name: 'web' }],
  }),
  'startup probe by command': podOf('a', { startupProbe: { exec: { command: ['true'] } } }),
  'probe by gRPC': podOf('a', { livenessProbe: { grpc: { port: 5000 } } }),
  'probe with all its numbers': podOf('a', {
    livenessProbe: {
      ...probe,
      initialDelaySeconds: 1,
      periodSeconds: 2,
      timeoutSeconds: 3,
      successThreshold: 1,
      failureThreshold: 5,
      terminationGracePeriodSeconds: 6,
    },
  }),
  'hook by HTTP': podOf('a', { lifecycle: { preStop: { httpGet: { port: 80, path: '/x' } } } }),
  'hook that sleeps': podOf('a', { lifecycle: { preStop: { sleep: { seconds: 3 } } } }),
  'limits become requests': podOf('a', { resources: { limits: { cpu: '1', memory: '1Gi' } } }),
  'requests beside limits': podOf('a', {
    resources: { limits: { cpu: '2' }, requests: { cpu: '500m', memory: '10Mi' } },
  }),
  'quantities in other forms': podOf('a', {
    resources: { requests: { cpu: '0.5', memory: '1048576k', 'example.com/x': '3' }, limits: { 'example.com/x': 3 } },
  }),
  guaranteed: podOf('a', { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } } }),
  'huge pages': podOf('a', { resources: { limits: { 'hugepages-2Mi': '4Mi', cpu: '1', memory: '1Mi' } } }),
  'resources of the pod': pod('a', { resources: { limits: { cpu: '1', memory: '1Gi' } } }),
  'resize policy': podOf('a', {
    resources: { limits: { cpu: '1' } },
    resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
  }),
  'init containers': pod('a', {
    initContainers: [container({ name: 'first' }), container({ name: 'side', restartPolicy: 'Always' })],
  }),
  'restart rules': podOf('a', {
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [3] } }],
  }),
  environment: podOf('a', {
    env: [
      { name: 'A', value: 'b' },
      { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      { name: 'D', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } },
    ],
    envFrom: [{ secretRef: { name: 's' } }],
  }),
  'volume of a secret': pod('a', { volumes: secretVolume({ secret: { secretName: 's' } }) }),
  'volume of a configmap': pod('a', { volumes: secretVolume({ configMap: { name: 'm' } }) }),
  'volume of the downward API': pod('a', {
    volumes: secretVolume({ downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } }),
  }),
  'projected volume': pod('a', {
    volumes: secretVolume({
      projected: { sources: [{ serviceAccountToken: { path: 't' } }, { secret: { name: 's' } }] },
    }),
  }),
  'volume of the host': pod('a', { volumes: secretVolume({ hostPath: { path: '/x' } }) }),
  'empty volume': pod('a', { volumes: secretVolume({ emptyDir: {} }) }),
  'volume without a source': pod('a', { volumes: secretVolume({}) }),
  'volume of an image': pod('a', { volumes: secretVolume({ image: { reference: 'registry.test/data' } }) }),
  'generic ephemeral volume': pod('a', {
    volumes: secretVolume({
      ephemeral: {
        volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      },
    }),
  }),
  iscsi: pod('a', {
    volumes: secretVolume({ iscsi: { targetPortal: '1.2.3.4', iqn: 'iqn.2001-04.com.example:x', lun: 0 } }),
  }),
  'inline csi volume': pod('a', { volumes: secretVolume({ csi: { driver: 'x.example.com' } }) }),
  'account by its old name': pod('a', { serviceAccount: 'default' }),
  'no token': pod('a', { automountServiceAccountToken: false }),
  'own mount at the place of the token': podOf(
    'a',
    { volumeMounts: [{ name: 'v', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }] },
    { volumes: secretVolume({ emptyDir: {} }) },
  ),
  'priority class of the system': pod('a', { priorityClassName: 'system-node-critical' }),
  'tolerations of its own': pod('a', {
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
    ],
  }),
  'toleration of everything': pod('a', { tolerations: [{ operator: 'Exists' }] }),
  'security context': pod('a', {
    securityContext: { runAsUser: 1, fsGroup: 2, seccompProfile: { type: 'RuntimeDefault' } },
  }),
  'security context of a container': podOf('a', {
    securityContext: { privileged: false, capabilities: { add: ['NET_ADMIN'] }, procMount: 'Default' },
  }),
  'topology spread': pod('a', {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { a: 'b' } },
      },
    ],
  }),
  affinity: pod('a', {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
        },
      },
    },
  }),
  'scheduling gates': pod('a', { schedulingGates: [{ name: 'example.com/wait' }] }),
  'host aliases and DNS': pod('a', {
    hostAliases: [{ ip: '1.2.3.4', hostnames: ['x'] }],
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['1.1.1.1'] },
  }),
  'restart policy, deadline, grace': pod('a', {
    restartPolicy: 'Never',
    activeDeadlineSeconds: 5,
    terminationGracePeriodSeconds: 7,
  }),
  'grace below zero': pod('a', { terminationGracePeriodSeconds: -5 }),
  'status that is sent is dropped': { ...pod('a'), status: { phase: 'Running', podIP: '1.2.3.4' } },
  'readiness gates, OS, overhead': pod('a', {
    readinessGates: [{ conditionType: 'example.com/x' }],
    os: { name: 'linux' },
  }),
  'termination message': podOf('a', {
    terminationMessagePath: '/x',
    terminationMessagePolicy: 'FallbackToLogsOnError',
  }),
  'empty lists and maps': {
    ...pod('a', { volumes: [], tolerations: [], nodeSelector: {}, imagePullSecrets: [] }),
    metadata: { name: 'a', labels: {}, annotations: {} },
  },
  nulls: pod('a', { volumes: null, nodeSelector: null, securityContext: null, hostNetwork: null }),
  'name of a host and a subdomain': pod('a', { hostname: 'h', subdomain: 's', setHostnameAsFQDN: true }),
  'process namespace': pod('a', { shareProcessNamespace: true }),
}

export const podDefaults: ContractTable = {
  name: 'pod-defaults',
  cases: Object.entries(specs).map(([name, body]) => each(name, post(`${PODS}?dryRun=All`, body))),
}
