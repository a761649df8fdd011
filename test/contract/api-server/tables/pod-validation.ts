import { each, post } from '../contract-case.ts'
import type { ContractTable } from '../contract-case.ts'
import { container, core, pod, PODS, podOf } from './objects.ts'

type Fields = Readonly<Record<string, unknown>>

const volume = (fields: Fields, spec: Fields = {}) => pod('a', { volumes: [{ name: 'v', ...fields }], ...spec })
const mounted = (mount: Fields) => podOf('a', { volumeMounts: [mount] }, { volumes: [{ name: 'v', emptyDir: {} }] })
const env = (entry: Fields) => podOf('a', { env: [entry] })
const probe = (fields: Fields) => podOf('a', { livenessProbe: fields })
const resources = (fields: Fields) => podOf('a', { resources: fields })
const security = (fields: Fields) => podOf('a', { securityContext: fields })

/** Pods that break rules, most of them one. */
const pods: Readonly<Record<string, object>> = {
  'no containers': pod('a', { containers: [] }),
  'no spec': core('Pod', 'a'),
  'no name': { ...pod('a'), metadata: {} },
  'name with capitals': pod('Big'),
  'name with a dot at its end': pod('a.'),
  'name too long': pod('a'.repeat(254)),
  'name that is no label': pod('a.b'),
  labels: pod('a', {}, { labels: { 'a b': 'c', ok: 'no spaces', ['x'.repeat(64)]: 'y' } }),
  annotations: pod('a', {}, { annotations: { 'a b': 'c' } }),
  'annotations too large': pod('a', {}, { annotations: { a: 'x'.repeat(262_145) } }),
  'finalizer without a domain': pod('a', {}, { finalizers: ['nodomain'] }),
  'owner without uid': pod('a', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x' }] }),
  'two controllers': pod(
    'a',
    {},
    {
      ownerReferences: ['1', '2'].map((uid) => ({ apiVersion: 'v1', kind: 'Pod', name: 'x', uid, controller: true })),
    },
  ),
  'owner that is an event': pod(
    'a',
    {},
    { ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'x', uid: '1' }] },
  ),
  'container without a name': podOf('a', { name: '' }),
  'container with a bad name': podOf('a', { name: 'A_b' }),
  'two containers of one name': pod('a', { containers: [container(), container()] }),
  'no image': podOf('a', { image: '' }),
  'image with spaces around': podOf('a', { image: ' x ' }),
  'pull policy': podOf('a', { imagePullPolicy: 'Sometimes' }),
  'port beyond all': podOf('a', { ports: [{ containerPort: 70_000 }] }),
  'port zero': podOf('a', { ports: [{ containerPort: 0 }] }),
  'port without a number': podOf('a', { ports: [{ name: 'x' }] }),
  'protocol of a port': podOf('a', { ports: [{ containerPort: 80, protocol: 'ICMP' }] }),
  'name of a port': podOf('a', { ports: [{ containerPort: 80, name: 'A much too long name' }] }),
  'two ports of one name': podOf('a', {
    ports: [
      { containerPort: 80, name: 'a' },
      { containerPort: 81, name: 'a' },
    ],
  }),
  'two ports of one host port': podOf('a', {
    ports: [
      { containerPort: 80, hostPort: 80 },
      { containerPort: 81, hostPort: 80 },
    ],
  }),
  'host port unlike the port on the host network': podOf(
    'a',
    { ports: [{ containerPort: 80, hostPort: 81 }] },
    { hostNetwork: true },
  ),
  'host address of a port': podOf('a', { ports: [{ containerPort: 80, hostIP: 'nowhere' }] }),
  'variable without a name': env({ name: '' }),
  'variable with a bad name': env({ name: 'a=b' }),
  'variable with two values': env({ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }),
  'variable from nothing': env({ name: 'A', valueFrom: {} }),
  'variable from an unknown field': env({ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.qosClass' } } }),
  'variable from a field of another version': env({
    name: 'A',
    valueFrom: { fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v2' } },
  }),
  'variable from a label with a bad key': env({
    name: 'A',
    valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } },
  }),
  'variable from an unknown resource': env({ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.gpu' } } }),
  'variable from a resource with a bad divisor': env({
    name: 'A',
    valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } },
  }),
  'variable from a key without a name': env({ name: 'A', valueFrom: { configMapKeyRef: { key: 'k' } } }),
  'variable from a key that is none': env({ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'a b' } } }),
  'variables from two sources': podOf('a', { envFrom: [{ configMapRef: { name: 'm' }, secretRef: { name: 's' } }] }),
  'variables from nothing': podOf('a', { envFrom: [{ prefix: 'x' }] }),
  'requests above limits': resources({ requests: { cpu: '2' }, limits: { cpu: '1' } }),
  'negative requests': resources({ requests: { cpu: '-1' } }),
  'unknown resource without a domain': resources({ requests: { gold: '1' } }),
  'own resource in parts': resources({ requests: { 'example.com/x': '500m' }, limits: { 'example.com/x': '500m' } }),
  'own resource without a limit': resources({ requests: { 'example.com/x': '1' } }),
  'huge pages alone': resources({ limits: { 'hugepages-2Mi': '4Mi' } }),
  'huge pages in parts of a page': resources({ limits: { 'hugepages-2Mi': '3Mi', cpu: '1' } }),
  'claims of a container that the pod has not': resources({ claims: [{ name: 'x' }] }),
  'probe without a way': probe({ periodSeconds: 1 }),
  'probe with two ways': probe({ httpGet: { port: 1 }, tcpSocket: { port: 1 } }),
  'probe with negative numbers': probe({
    tcpSocket: { port: 1 },
    periodSeconds: -1,
    timeoutSeconds: -1,
    failureThreshold: -1,
    initialDelaySeconds: -1,
  }),
  'liveness probe with two successes': probe({ tcpSocket: { port: 1 }, successThreshold: 2 }),
  'probe with a grace of zero': probe({ tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 0 }),
  'readiness probe with a grace': podOf('a', {
    readinessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 5 },
  }),
  'probe of a bad port': probe({ tcpSocket: { port: 'not a port' } }),
  'probe of no port': probe({ tcpSocket: { port: 0 } }),
  'probe by HTTP without a path or scheme': probe({ httpGet: { port: 1, scheme: 'ftp' } }),
  'probe by HTTP with a bad header': probe({ httpGet: { port: 1, httpHeaders: [{ name: 'a b', value: 'c' }] } }),
  'probe by an empty command': probe({ exec: { command: [] } }),
  'probe by gRPC with a bad port': probe({ grpc: { port: 0 } }),
  'hook without a way': podOf('a', { lifecycle: { preStop: {} } }),
  'hook that sleeps longer than the grace': podOf('a', { lifecycle: { preStop: { sleep: { seconds: 300 } } } }),
  'stop signal without an OS': podOf('a', { lifecycle: { stopSignal: 'SIGUSR1' } }),
  'mount of an unknown volume': mounted({ name: 'w', mountPath: '/x' }),
  'mount without a path': mounted({ name: 'v', mountPath: '' }),
  'mount with a colon': mounted({ name: 'v', mountPath: '/a:b' }),
  'mount with a sub path that leaves': mounted({ name: 'v', mountPath: '/x', subPath: '../y' }),
  'mount with an absolute sub path': mounted({ name: 'v', mountPath: '/x', subPath: '/y' }),
  'mount with both sub paths': mounted({ name: 'v', mountPath: '/x', subPath: 'a', subPathExpr: 'b' }),
  'mount with an unknown propagation': mounted({ name: 'v', mountPath: '/x', mountPropagation: 'Both' }),
  'mount with propagation in a container that is not privileged': mounted({
    name: 'v',
    mountPath: '/x',
    mountPropagation: 'Bidirectional',
  }),
  'mount read only in depth and writable': mounted({ name: 'v', mountPath: '/x', recursiveReadOnly: 'Enabled' }),
  'two mounts at one path': podOf(
    'a',
    {
      volumeMounts: [
        { name: 'v', mountPath: '/x' },
        { name: 'v', mountPath: '/x' },
      ],
    },
    { volumes: [{ name: 'v', emptyDir: {} }] },
  ),
  'device of a volume that is no claim': podOf(
    'a',
    { volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] },
    { volumes: [{ name: 'v', emptyDir: {} }] },
  ),
  'volume without a name': pod('a', { volumes: [{ emptyDir: {} }] }),
  'volume with a bad name': pod('a', { volumes: [{ name: 'A_', emptyDir: {} }] }),
  'two volumes of one name': pod('a', {
    volumes: [
      { name: 'v', emptyDir: {} },
      { name: 'v', emptyDir: {} },
    ],
  }),
  'volume with two sources': volume({ emptyDir: {}, hostPath: { path: '/x' } }),
  'host path that leaves': volume({ hostPath: { path: '/a/../b' } }),
  'host path of an unknown type': volume({ hostPath: { path: '/a', type: 'Pipe' } }),
  'host path without a path': volume({ hostPath: { path: '' } }),
  'empty volume of a negative size': volume({ emptyDir: { sizeLimit: '-1' } }),
  'empty volume of an unknown medium': volume({ emptyDir: { medium: 'Tape' } }),
  'secret without a name': volume({ secret: {} }),
  'secret with a mode beyond all': volume({ secret: { secretName: 's', defaultMode: 1000 } }),
  'secret with a bad item': volume({ secret: { secretName: 's', items: [{ key: '', path: '../x' }] } }),
  'configmap without a name': volume({ configMap: {} }),
  'configmap with an absolute path': volume({ configMap: { name: 'm', items: [{ key: 'k', path: '/x' }] } }),
  'downward API with both refs': volume({
    downwardAPI: {
      items: [
        {
          path: 'p',
          fieldRef: { fieldPath: 'metadata.name' },
          resourceFieldRef: { resource: 'limits.cpu', containerName: 'main' },
        },
      ],
    },
  }),
  'downward API with a field that is none': volume({
    downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'spec.nodeName' } }] },
  }),
  'downward API with a path that leaves': volume({
    downwardAPI: { items: [{ path: '..x/../y', fieldRef: { fieldPath: 'metadata.name' } }] },
  }),
  'projected token without a path': volume({ projected: { sources: [{ serviceAccountToken: { path: '' } }] } }),
  'projected token that lasts too short': volume({
    projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 60 } }] },
  }),
  'projected sources at one path': volume({
    projected: { sources: ['a', 'b'].map((name) => ({ configMap: { name, items: [{ key: 'k', path: 'p' }] } })) },
  }),
  'projected source that has two': volume({
    projected: { sources: [{ configMap: { name: 'm' }, secret: { name: 's' } }] },
  }),
  'claim without a name': volume({ persistentVolumeClaim: { claimName: '' } }),
  'nfs without a server': volume({ nfs: { path: '/x' } }),
  'nfs with a relative path': volume({ nfs: { server: 'x', path: 'y' } }),
  'iscsi without a portal': volume({ iscsi: { iqn: 'iqn.2001-04.com.example:x' } }),
  'fc without a target': volume({ fc: {} }),
  'inline csi without a driver': volume({ csi: {} }),
  'image volume without a reference': volume({ image: {} }),
  'ephemeral volume without a template': volume({ ephemeral: {} }),
  'restart policy': pod('a', { restartPolicy: 'Sometimes' }),
  'dns policy': pod('a', { dnsPolicy: 'Mine' }),
  'dns of its own without name servers': pod('a', { dnsPolicy: 'None' }),
  'too many name servers': pod('a', {
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] },
  }),
  'name server that is no address': pod('a', { dnsConfig: { nameservers: ['x'] } }),
  'name server of IPv4 in the form of IPv6': pod('a', { dnsConfig: { nameservers: ['::ffff:10.0.0.1'] } }),
  'deadline of zero': pod('a', { activeDeadlineSeconds: 0 }),
  'node selector': pod('a', { nodeSelector: { 'a b': 'c d' } }),
  'node name': pod('a', { nodeName: 'Not a name' }),
  account: pod('a', { serviceAccountName: 'Not a name' }),
  'host name': pod('a', { hostname: 'a.b' }),
  subdomain: pod('a', { subdomain: 'A_' }),
  'host alias': pod('a', { hostAliases: [{ ip: 'x', hostnames: ['a b'] }] }),
  'toleration without a key': pod('a', { tolerations: [{ operator: 'Equal', value: 'x' }] }),
  'toleration with an effect that is none': pod('a', { tolerations: [{ key: 'a', effect: 'Later' }] }),
  'toleration that ends without an effect': pod('a', {
    tolerations: [{ key: 'a', operator: 'Exists', tolerationSeconds: 5 }],
  }),
  'toleration of a value that exists': pod('a', { tolerations: [{ key: 'a', operator: 'Exists', value: 'x' }] }),
  'priority of its own': pod('a', { priority: 7 }),
  'priority class that is not there': pod('a', { priorityClassName: 'missing' }),
  'user below zero': pod('a', { securityContext: { runAsUser: -1 } }),
  'group below zero': pod('a', { securityContext: { fsGroup: -1, supplementalGroups: [-1] } }),
  'seccomp of the machine without a file': pod('a', { securityContext: { seccompProfile: { type: 'Localhost' } } }),
  'seccomp that is none': pod('a', { securityContext: { seccompProfile: { type: 'Strong' } } }),
  'apparmor of the machine without a profile': pod('a', {
    securityContext: { appArmorProfile: { type: 'Localhost' } },
  }),
  'sysctl that is none': pod('a', { securityContext: { sysctls: [{ name: 'a b', value: '1' }] } }),
  'two sysctls of one name': pod('a', {
    securityContext: {
      sysctls: [
        { name: 'net.a', value: '1' },
        { name: 'net.a', value: '1' },
      ],
    },
  }),
  'policy of the group of volumes': pod('a', { securityContext: { fsGroupChangePolicy: 'Never' } }),
  'policy of other groups': pod('a', { securityContext: { supplementalGroupsPolicy: 'Never' } }),
  'no more rights, and privileged': security({ privileged: true, allowPrivilegeEscalation: false }),
  'proc mount with users of the host': security({ procMount: 'Unmasked' }),
  'proc mount that is none': security({ procMount: 'Open' }),
  'host namespaces beside users of its own': pod('a', {
    hostUsers: false,
    hostNetwork: true,
    hostPID: true,
    hostIPC: true,
  }),
  'host network and shared processes of the host': pod('a', { hostPID: true, shareProcessNamespace: true }),
  'windows options on linux': pod('a', {
    os: { name: 'linux' },
    securityContext: { windowsOptions: { runAsUserName: 'x' } },
  }),
  'OS that is none': pod('a', { os: { name: 'plan9' } }),
  'runtime class name': pod('a', { runtimeClassName: 'A_' }),
  'runtime class that is not there': pod('a', { runtimeClassName: 'missing' }),
  'overhead of its own': pod('a', { overhead: { cpu: '1' } }),
  'readiness gate': pod('a', { readinessGates: [{ conditionType: 'a b' }] }),
  'pull secret without a name': pod('a', { imagePullSecrets: [{ name: '' }] }),
  'scheduling gates twice': pod('a', { schedulingGates: [{ name: 'x' }, { name: 'x' }] }),
  'scheduling gates on a node': pod('a', { nodeName: 'node-1', schedulingGates: [{ name: 'x' }] }),
  'topology spread': pod('a', {
    topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Maybe' }],
  }),
  'affinity to nodes without terms': pod('a', {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
  }),
  'affinity with an operator that is none': pod('a', {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Like' }] }],
        },
      },
    },
  }),
  'affinity to pods without a topology': pod('a', {
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {} }] } },
  }),
  'weight of an affinity': pod('a', {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 0, preference: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
        ],
      },
    },
  }),
  'init container with hooks': pod('a', {
    initContainers: [
      container({
        name: 'i',
        lifecycle: { preStop: { exec: { command: ['x'] } } },
        livenessProbe: { tcpSocket: { port: 1 } },
      }),
    ],
  }),
  'init container of a name that is taken': pod('a', { initContainers: [container()] }),
  'sidecar with a restart policy that is none': pod('a', {
    initContainers: [container({ name: 'i', restartPolicy: 'Often' })],
  }),
  'ephemeral container at the start': pod('a', { ephemeralContainers: [container({ name: 'e' })] }),
  'termination message policy': podOf('a', { terminationMessagePolicy: 'None' }),
  'resize policy of an unknown resource': podOf('a', {
    resizePolicy: [{ resourceName: 'disk', restartPolicy: 'NotRequired' }],
  }),
  'resize policy twice': podOf('a', {
    resizePolicy: [
      { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      { resourceName: 'cpu', restartPolicy: 'NotRequired' },
    ],
  }),
  'resource claims without a source': pod('a', { resourceClaims: [{ name: 'x' }] }),
  'resource claims twice': pod('a', {
    resourceClaims: [
      { name: 'x', resourceClaimName: 'y' },
      { name: 'x', resourceClaimName: 'z' },
    ],
  }),
  'pod resources above limits': pod('a', { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
  'pod resources below those of its containers': podOf(
    'a',
    { resources: { requests: { cpu: '2' } } },
    { resources: { requests: { cpu: '1' }, limits: { cpu: '1' } } },
  ),
  'mirror pod of someone else': pod('a', {}, { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
  'restart rules without a policy': podOf('a', {
    restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }],
  }),
  'service links that are no boolean': pod('a', { enableServiceLinks: 'yes' }),
  'port that is a text': podOf('a', { ports: [{ containerPort: '80' }] }),
  'quantity that is none': resources({ requests: { cpu: 'many' } }),
  'list that is a map': pod('a', { containers: { name: 'x' } }),
  'number beyond 32 bits': podOf('a', { ports: [{ containerPort: 5_000_000_000 }] }),
}

export const podValidation: ContractTable = {
  name: 'pod-validation',
  cases: Object.entries(pods).map(([name, body]) => each(name, post(`${PODS}?dryRun=All`, body))),
}
