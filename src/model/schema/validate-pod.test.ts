import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeObject } from './decode-object.ts'
import { defaultPod } from './default-pod.ts'
import type { ManifestPod } from './default-pod.ts'
import type { DocumentObject, DocumentValue } from '../../base/document/document-value.ts'
import { validatePod } from './validate-pod.ts'

/** Fields of the spec, of its only container ("c") and of the metadata; what is not given is legal. */
interface Given {
  readonly spec?: DocumentObject
  readonly c?: DocumentObject
  readonly meta?: DocumentObject
}

function problemsOf({ spec = {}, c = {}, meta = {} }: Given): readonly string[] {
  const { value, errors } = decodeObject(
    {
      metadata: { name: 'web', namespace: 'default', ...meta },
      spec: { containers: [{ name: 'main', image: 'nginx', ...c }], ...spec },
    },
    'Pod',
  )
  assert.deepEqual(errors, [])
  return validatePod(defaultPod(value as unknown as ManifestPod)).map(({ path, rule }) => `${path.toString()}: ${rule}`)
}

test('validatePod() takes users of their own in the network of the node where that feature is on', () => {
  const spec = { containers: [{ name: 'main', image: 'nginx' }], hostUsers: false, hostNetwork: true, hostPID: true }
  const pod = defaultPod({ metadata: { name: 'web', namespace: 'default' }, spec })
  const found = validatePod(pod, undefined, { userNamespacesHostNetwork: true })
  assert.deepEqual(
    found.map(({ path }) => path.toString()),
    ['spec.hostPID'],
  )
})

const many = (count: number, item: (index: number) => DocumentValue) => Array.from({ length: count }, (_, i) => item(i))
const volume = (source: DocumentObject): Given => ({ spec: { volumes: [{ name: 'v', ...source }] } })
const probe = (fields: DocumentObject): Given => ({ c: { livenessProbe: { exec: { command: ['true'] }, ...fields } } })
const init = (fields: DocumentObject): Given => ({
  spec: { initContainers: [{ name: 'init', image: 'x', ...fields }] },
})
const mounted = (mount: DocumentObject, more: DocumentObject = {}): Given => ({
  spec: { volumes: [{ name: 'v', emptyDir: {} }] },
  c: { volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }], ...more },
})
const env = (...variables: readonly DocumentValue[]): Given => ({ c: { env: variables } })
const security = (securityContext: DocumentObject): Given => ({ c: { securityContext } })
const podSecurity = (securityContext: DocumentObject): Given => ({ spec: { securityContext } })
const resources = (fields: DocumentObject): Given => ({ c: { resources: fields } })
const toleration = (fields: DocumentObject): Given => ({ spec: { tolerations: [fields] } })
const spread = (fields: DocumentObject): Given => ({
  spec: {
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', ...fields }],
  },
})
const projected = (...sources: readonly DocumentObject[]): Given => ({
  spec: { serviceAccountName: 'sa', volumes: [{ name: 'v', projected: { sources } }] },
})
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'
const LABEL = "must be at most 63 lower case letters, digits or '-', starting and ending with a letter or digit"
const SUBDOMAIN =
  "must be at most 253 lower case letters, digits, '-' or '.', each part starting and ending with a letter or digit"
const QUALIFIED =
  "must have a name part of 1 to 63 letters, digits, '-', '_' or '.', starting and ending with a letter or digit"
const VALUE = "must be empty or at most 63 letters, digits, '-', '_' or '.', starting and ending with a letter or digit"

type Row = readonly [string, Given, ...(readonly string[])]

const families: Readonly<Record<string, readonly Row[]>> = {
  metadata: [
    ['a plain pod', {}],
    ['no name', { meta: { name: '' } }, 'metadata.name: Required value: a pod needs a name'],
    ['a dotted name', { meta: { name: 'a.b-c.1' } }],
    ['a capital in the name', { meta: { name: 'Web' } }, `metadata.name: Invalid value: "Web": ${SUBDOMAIN}`],
    ['no namespace', { meta: { namespace: '' } }, 'metadata.namespace: Required value'],
    ['a dotted namespace', { meta: { namespace: 'a.b' } }, `metadata.namespace: Invalid value: "a.b": ${LABEL}`],
    ['labels', { meta: { labels: { 'example.com/app': 'a_b.c', empty: '' } } }],
    ['a bad label key', { meta: { labels: { '-a': 'b' } } }, `metadata.labels: Invalid value: "-a": ${QUALIFIED}`],
    [
      'a bad label prefix',
      { meta: { labels: { 'A/b': 'b' } } },
      `metadata.labels: Invalid value: "A/b": must have a DNS name before the '/'`,
    ],
    ['a bad label value', { meta: { labels: { a: '-' } } }, `metadata.labels[a]: Invalid value: "-": ${VALUE}`],
    ['annotations of 256 KiB', { meta: { annotations: { a: 'x'.repeat(256 * 1024 - 1) } } }],
    [
      'larger annotations',
      { meta: { annotations: { a: 'x'.repeat(256 * 1024) } } },
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    ],
    [
      'a bad annotation key',
      { meta: { annotations: { 'a b': '' } } },
      `metadata.annotations: Invalid value: "a b": ${QUALIFIED}`,
    ],
    [
      'a bad deletion cost',
      { meta: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '01' } } },
      'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "01": must be a whole number of 32 bits',
    ],
    [
      'AppArmor for nobody',
      { meta: { annotations: { 'container.apparmor.security.beta.kubernetes.io/x': 'unconfined' } } },
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: Invalid value: "x": must name a container of the pod',
    ],
    [
      'an odd seccomp profile',
      { meta: { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'what' } } },
      'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: Invalid value: "what": must be runtime/default, unconfined or localhost/<profile>',
    ],
    [
      'a negative generation',
      { meta: { generation: -1 } },
      'metadata.generation: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
  containers: [
    ['no containers', { spec: { containers: [] } }, 'spec.containers: Required value'],
    ['no name', { c: { name: '' } }, 'spec.containers[0].name: Required value'],
    ['a bad name', { c: { name: 'a_b' } }, `spec.containers[0].name: Invalid value: "a_b": ${LABEL}`],
    ['no image', { c: { image: '' } }, 'spec.containers[0].image: Required value'],
    [
      'a padded image',
      { c: { image: ' nginx' } },
      'spec.containers[0].image: Invalid value: " nginx": has spaces around it',
    ],
    [
      'one name twice',
      {
        spec: {
          containers: [
            { name: 'a', image: 'x' },
            { name: 'a', image: 'x' },
          ],
        },
      },
      'spec.containers[1].name: Duplicate value: "a"',
    ],
    [
      'a name used by an init container',
      init({ name: 'main' }),
      'spec.initContainers[0].name: Duplicate value: "main"',
    ],
    ['a pull policy', { c: { imagePullPolicy: 'Never' } }],
    [
      'an odd pull policy',
      { c: { imagePullPolicy: 'Often' } },
      'spec.containers[0].imagePullPolicy: Unsupported value: "Often": supported values: "Always", "IfNotPresent", "Never"',
    ],
    [
      'an odd message policy',
      { c: { terminationMessagePolicy: 'x' } },
      'spec.containers[0].terminationMessagePolicy: Unsupported value: "x": supported values: "FallbackToLogsOnError", "File"',
    ],
    [
      'ephemeral containers',
      { spec: { ephemeralContainers: [{ name: 'd', image: 'x', targetContainerName: 'main' }] } },
      'spec.ephemeralContainers: Forbidden: a new pod has none',
    ],
    [
      'an ephemeral container with a probe for nobody',
      { spec: { ephemeralContainers: [{ name: 'd', image: 'x', targetContainerName: 'no', ports: [] }] } },
      'spec.ephemeralContainers[0].targetContainerName: Not found: "no"',
      'spec.ephemeralContainers[0].ports: Forbidden: has no meaning for an ephemeral container',
      'spec.ephemeralContainers: Forbidden: a new pod has none',
    ],
    [
      'a probe of an init container',
      init({ readinessProbe: { exec: { command: ['x'] } } }),
      'spec.initContainers[0].readinessProbe: Forbidden: only for init containers that keep running (restartPolicy: Always)',
    ],
    ['a probe of a sidecar', init({ restartPolicy: 'Always', readinessProbe: { exec: { command: ['x'] } } })],
    ['a resize policy', { c: { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] } }],
    [
      'odd resize policies',
      {
        spec: { restartPolicy: 'Never' },
        c: {
          resizePolicy: [
            { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
            { resourceName: 'cpu', restartPolicy: 'NotRequired' },
            { resourceName: 'disk', restartPolicy: 'x' },
          ],
        },
      },
      'spec.containers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must be NotRequired in a pod that never restarts',
      'spec.containers[0].resizePolicy[1]: Duplicate value: "cpu"',
      'spec.containers[0].resizePolicy[2].resourceName: Unsupported value: "disk": supported values: "cpu", "memory"',
      'spec.containers[0].resizePolicy[2].restartPolicy: Unsupported value: "x": supported values: "NotRequired", "RestartContainer"',
    ],
    [
      'a restarting resize of an init container',
      init({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }),
      'spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be RestartContainer for init containers that are no sidecars',
    ],
  ],
  'restart rules': [
    [
      'a rule',
      {
        c: {
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }],
        },
      },
    ],
    [
      'rules without a policy',
      { c: { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] } },
      'spec.containers[0].restartPolicy: Required value: restart rules need it',
    ],
    [
      'odd words',
      {
        c: {
          restartPolicy: 'x',
          restartPolicyRules: [{ action: 'y', exitCodes: { operator: 'z' } }, { action: 'Restart' }],
        },
      },
      'spec.containers[0].restartPolicy: Unsupported value: "x": supported values: "Always", "Never", "OnFailure"',
      'spec.containers[0].restartPolicyRules[0].action: Unsupported value: "y": supported values: "Restart", "RestartAllContainers"',
      'spec.containers[0].restartPolicyRules[0].exitCodes.operator: Unsupported value: "z": supported values: "In", "NotIn"',
      'spec.containers[0].restartPolicyRules[1].exitCodes: Required value: a rule needs them',
    ],
    [
      'too many rules and codes',
      {
        c: {
          restartPolicy: 'Never',
          restartPolicyRules: many(21, () => ({
            action: 'Restart',
            exitCodes: { operator: 'In', values: many(1, (i) => i) },
          })),
        },
      },
      'spec.containers[0].restartPolicyRules: Too many: 21: must have at most 20 items',
    ],
    [
      'too many codes',
      {
        c: {
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: many(256, (i) => i) } }],
        },
      },
      'spec.containers[0].restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items',
    ],
  ],
  ports: [
    [
      'ports',
      {
        c: {
          ports: [
            { name: 'web', containerPort: 80 },
            { name: 'dns', containerPort: 53, protocol: 'UDP' },
          ],
        },
      },
    ],
    ['no number', { c: { ports: [{ name: 'web' }] } }, 'spec.containers[0].ports[0].containerPort: Required value'],
    [
      'numbers out of range',
      { c: { ports: [{ containerPort: 65536, hostPort: -1 }] } },
      'spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive',
      'spec.containers[0].ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive',
    ],
    [
      'odd names and protocols',
      {
        c: {
          ports: [
            { name: 'a--b', containerPort: 1, protocol: 'tcp' },
            { name: '123', containerPort: 2 },
          ],
        },
      },
      `spec.containers[0].ports[0].name: Invalid value: "a--b": must be at most 15 lower case letters, digits or single '-' inside, with at least one letter`,
      'spec.containers[0].ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
      `spec.containers[0].ports[1].name: Invalid value: "123": must be at most 15 lower case letters, digits or single '-' inside, with at least one letter`,
    ],
    [
      'a name twice',
      {
        c: {
          ports: [
            { name: 'a', containerPort: 1 },
            { name: 'a', containerPort: 2 },
          ],
        },
      },
      'spec.containers[0].ports[1].name: Duplicate value: "a"',
    ],
    [
      'a host port on two addresses',
      {
        c: {
          ports: [
            { containerPort: 1, hostPort: 9, hostIP: '10.0.0.1' },
            { containerPort: 2, hostPort: 9, hostIP: '10.0.0.2' },
          ],
        },
      },
    ],
    [
      'a host port twice',
      {
        c: {
          ports: [
            { containerPort: 1, hostPort: 9 },
            { containerPort: 2, hostPort: 9 },
          ],
        },
      },
      'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//9"',
    ],
    ['the network of the host', { spec: { hostNetwork: true }, c: { ports: [{ containerPort: 80 }] } }],
    [
      'another port on the network of the host',
      { spec: { hostNetwork: true }, c: { ports: [{ containerPort: 80, hostPort: 81 }] } },
      'spec.containers[0].ports[0].hostPort: Invalid value: 81: must equal containerPort on the network of the host',
    ],
  ],
  environment: [
    ['odd but legal names', env({ name: 'a b-c.1', value: 'x' })],
    ['no name', env({ value: 'x' }), 'spec.containers[0].env[0].name: Required value'],
    [
      "a name with '='",
      env({ name: 'a=b' }),
      `spec.containers[0].env[0].name: Invalid value: "a=b": must be printable ASCII characters without '='`,
    ],
    ['a field', env({ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } })],
    ['a label', env({ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } })],
    [
      'an odd field',
      env({ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.containers' } } }),
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "spec.containers": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
    ],
    [
      'a subscript of the name',
      env({ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.name['x']" } } }),
      'spec.containers[0].env[0].valueFrom.fieldRef: Invalid value: "metadata.name": has no keys to choose from',
    ],
    ['an amount', env({ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } })],
    [
      'an odd divisor',
      env({ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '3m' } } }),
      'spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Unsupported value: "3m": supported values: "1m", "1"',
    ],
    [
      'no source',
      env({ name: 'A', valueFrom: {} }),
      'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef',
    ],
    [
      'a value and a source',
      env({ name: 'A', value: 'x', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }),
      'spec.containers[0].env[0].valueFrom: Invalid value: "": the variable already has a value',
    ],
    [
      'two sources',
      env({
        name: 'A',
        valueFrom: { secretKeyRef: { name: 's', key: 'k' }, configMapKeyRef: { name: 's', key: 'k' } },
      }),
      'spec.containers[0].env[0].valueFrom: Invalid value: "": has several sources, expected one',
    ],
    [
      'an incomplete reference',
      env({ name: 'A', valueFrom: { secretKeyRef: { key: '..' } } }),
      'spec.containers[0].env[0].valueFrom.secretKeyRef.name: Required value',
      `spec.containers[0].env[0].valueFrom.secretKeyRef.key: Invalid value: "..": must be at most 253 letters, digits, '-', '_' or '.', not '.' and not starting with '..'`,
    ],
    [
      'a file of no volume',
      env({ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'a', key: 'K' } } }),
      'spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: "v"',
    ],
    ['maps', { c: { envFrom: [{ prefix: 'A_', configMapRef: { name: 'a' } }] } }],
    [
      'no map and two maps',
      { c: { envFrom: [{}, { configMapRef: { name: 'a' }, secretRef: {} }] } },
      'spec.containers[0].envFrom[0]: Invalid value: "": must specify one of: configMapRef, secretRef',
      'spec.containers[0].envFrom[1]: Invalid value: "": has several sources, expected one',
      'spec.containers[0].envFrom[1].secretRef.name: Required value',
    ],
  ],
  mounts: [
    ['a mount', mounted({ subPath: 'a/b', readOnly: true, recursiveReadOnly: 'Enabled' })],
    ['a mount of no volume', mounted({ name: 'x' }), 'spec.containers[0].volumeMounts[0].name: Not found: "x"'],
    ['no path', mounted({ mountPath: '' }), 'spec.containers[0].volumeMounts[0].mountPath: Required value'],
    [
      'a path twice',
      {
        spec: { volumes: [{ name: 'v' }] },
        c: {
          volumeMounts: [
            { name: 'v', mountPath: '/a' },
            { name: 'v', mountPath: '/a' },
          ],
        },
      },
      'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": is used twice',
    ],
    [
      'an absolute sub-path',
      mounted({ subPath: '/a' }),
      'spec.containers[0].volumeMounts[0].subPath: Invalid value: "/a": may not begin with a slash',
    ],
    [
      'a sub-path upwards',
      mounted({ subPath: 'a/../b' }),
      `spec.containers[0].volumeMounts[0].subPath: Invalid value: "a/../b": may not go upwards with '..'`,
    ],
    [
      'both sub-paths',
      mounted({ subPath: 'a', subPathExpr: 'b' }),
      'spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: "b": must not be set together with subPath',
    ],
    [
      'propagation of a privileged container',
      mounted({ mountPropagation: 'Bidirectional' }, { securityContext: { privileged: true } }),
    ],
    [
      'propagation of another',
      mounted({ mountPropagation: 'Bidirectional' }),
      'spec.containers[0].volumeMounts[0].mountPropagation: Forbidden: Bidirectional needs a privileged container',
    ],
    [
      'recursive read-only without read-only',
      mounted({ recursiveReadOnly: 'IfPossible', mountPropagation: 'HostToContainer' }),
      'spec.containers[0].volumeMounts[0].recursiveReadOnly: Forbidden: needs readOnly: true',
      'spec.containers[0].volumeMounts[0].recursiveReadOnly: Forbidden: excludes any mountPropagation but None',
    ],
    [
      'a device',
      {
        spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] },
        c: { volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] },
      },
    ],
    [
      'odd devices',
      {
        spec: { volumes: [{ name: 'v' }] },
        c: {
          volumeDevices: [
            { name: 'v', devicePath: '../x' },
            { name: 'w', devicePath: '' },
          ],
        },
      },
      'spec.containers[0].volumeDevices[0].name: Invalid value: "v": must be a persistentVolumeClaim or ephemeral volume for block mode',
      `spec.containers[0].volumeDevices[0].devicePath: Invalid value: "../x": may not go upwards with '..'`,
      'spec.containers[0].volumeDevices[1].name: Not found: "w"',
      'spec.containers[0].volumeDevices[1].devicePath: Required value',
    ],
    [
      'a volume as mount and device',
      {
        spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] },
        c: { volumeMounts: [{ name: 'v', mountPath: '/x' }], volumeDevices: [{ name: 'v', devicePath: '/x' }] },
      },
      'spec.containers[0].volumeMounts[0].name: Invalid value: "v": is used in volumeDevices already',
      'spec.containers[0].volumeMounts[0].mountPath: Invalid value: "/x": is the path of a device already',
    ],
  ],
  'probes and hooks': [
    ['a probe', probe({ periodSeconds: 5, terminationGracePeriodSeconds: 1 })],
    [
      'no handler',
      { c: { livenessProbe: {} } },
      'spec.containers[0].livenessProbe: Required value: needs one way to act, such as exec or httpGet',
    ],
    [
      'two handlers',
      probe({ httpGet: { port: 80 } }),
      'spec.containers[0].livenessProbe.httpGet: Forbidden: there is another way to act already',
    ],
    ['no command', probe({ exec: {} }), 'spec.containers[0].livenessProbe.exec.command: Required value'],
    [
      'negative times',
      probe({ initialDelaySeconds: -1, terminationGracePeriodSeconds: 0 }),
      'spec.containers[0].livenessProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.containers[0].livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be at least 1',
    ],
    [
      'two successes of liveness',
      probe({ successThreshold: 2 }),
      'spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1',
    ],
    ['two successes of readiness', { c: { readinessProbe: { exec: { command: ['x'] }, successThreshold: 2 } } }],
    [
      'two successes of start-up',
      { c: { startupProbe: { exec: { command: ['x'] }, successThreshold: 2 } } },
      'spec.containers[0].startupProbe.successThreshold: Invalid value: 2: must be 1',
    ],
    [
      'a grace period of readiness',
      { c: { readinessProbe: { exec: { command: ['x'] }, terminationGracePeriodSeconds: 1 } } },
      'spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: a failing readiness probe ends nothing',
    ],
    [
      'an odd request',
      {
        c: {
          livenessProbe: { httpGet: { port: 'no_name', scheme: 'FTP', httpHeaders: [{ name: 'a b', value: '' }] } },
        },
      },
      `spec.containers[0].livenessProbe.httpGet.port: Invalid value: "no_name": must be at most 15 lower case letters, digits or single '-' inside, with at least one letter`,
      'spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
      `spec.containers[0].livenessProbe.httpGet.httpHeaders[0].name: Invalid value: "a b": must be letters, digits or '-'`,
    ],
    [
      'port 0',
      { c: { livenessProbe: { tcpSocket: { port: 0 } } } },
      'spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive',
    ],
    ['gRPC', { c: { livenessProbe: { grpc: { port: 9 } } } }],
    ['hooks', { c: { lifecycle: { postStart: { httpGet: { port: 80 } }, preStop: { sleep: { seconds: 30 } } } } }],
    [
      'a sleep beyond the grace period',
      { c: { lifecycle: { preStop: { sleep: { seconds: 31 } } } } },
      'spec.containers[0].lifecycle.preStop.sleep.seconds: Invalid value: 31: must be between 0 and terminationGracePeriodSeconds (30)',
    ],
    [
      'a hook that does nothing',
      { c: { lifecycle: { postStart: {} } } },
      'spec.containers[0].lifecycle.postStart: Required value: needs one way to act, such as exec or httpGet',
    ],
    ['a stop signal', { spec: { os: { name: 'linux' } }, c: { lifecycle: { stopSignal: 'SIGRTMIN+3' } } }],
    [
      'a stop signal of no system',
      { c: { lifecycle: { stopSignal: 'SIGTERM' } } },
      'spec.containers[0].lifecycle.stopSignal: Forbidden: needs spec.os.name',
    ],
    [
      'an odd stop signal',
      { spec: { os: { name: 'linux' } }, c: { lifecycle: { stopSignal: 'TERM' } } },
      'spec.containers[0].lifecycle.stopSignal: Invalid value: "TERM": must be the name of a signal, such as SIGTERM',
    ],
  ],
  resources: [
    ['amounts', resources({ requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: 1, 'example.com/gpu': 2 } })],
    [
      'a request above its limit',
      resources({ requests: { cpu: 2 }, limits: { cpu: 1 } }),
      'spec.containers[0].resources.requests[cpu]: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ],
    [
      'a negative amount',
      resources({ requests: { cpu: '-1' } }),
      'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ],
    [
      'an unknown resource',
      resources({ limits: { disk: 1 } }),
      'spec.containers[0].resources.limits[disk]: Invalid value: "disk": must be a standard resource for containers or fully qualified',
      'spec.containers[0].resources.requests[disk]: Invalid value: "disk": must be a standard resource for containers or fully qualified',
    ],
    [
      'half a device',
      resources({ limits: { 'example.com/gpu': '500m' } }),
      'spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": must be a whole number',
      'spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "500m": must be a whole number',
    ],
    [
      'a device without a limit',
      resources({ requests: { 'example.com/gpu': 1 } }),
      'spec.containers[0].resources.limits: Required value: a resource that cannot be shared needs one',
    ],
    [
      'fewer devices than the limit',
      resources({ requests: { 'example.com/gpu': 1 }, limits: { 'example.com/gpu': 2 } }),
      'spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "1": must be equal to example.com/gpu limit of 2',
    ],
    ['huge pages', resources({ limits: { 'hugepages-2Mi': '4Mi', memory: '1Gi' } })],
    [
      'huge pages alone',
      resources({ limits: { 'hugepages-2Mi': '4Mi' } }),
      'spec.containers[0].resources: Forbidden: huge pages need cpu or memory beside them',
    ],
    [
      'half a huge page',
      resources({ limits: { 'hugepages-2Mi': '3Mi', cpu: 1 } }),
      'spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": must be a multiple of the page size of hugepages-2Mi',
      'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": must be a multiple of the page size of hugepages-2Mi',
    ],
    [
      'a claim',
      {
        spec: { resourceClaims: [{ name: 'g', resourceClaimName: 'x' }] },
        c: { resources: { claims: [{ name: 'g' }] } },
      },
    ],
    [
      'a claim of nothing, and twice',
      resources({ claims: [{ name: 'g', request: 'r' }, { name: 'g' }, {}] }),
      'spec.containers[0].resources.claims[0]: Not found: "g"',
      'spec.containers[0].resources.claims[1]: Duplicate value: "g"',
      'spec.containers[0].resources.claims[1]: Not found: "g"',
      'spec.containers[0].resources.claims[2]: Required value',
    ],
    [
      'claims of the pod',
      {
        spec: {
          resourceClaims: [{ name: 'A' }, { name: 'b', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }],
        },
      },
      `spec.resourceClaims[0].name: Invalid value: "A": ${LABEL}`,
      'spec.resourceClaims[0]: Invalid value: "A": must specify exactly one of resourceClaimName and resourceClaimTemplateName',
      'spec.resourceClaims[1]: Invalid value: "b": must specify exactly one of resourceClaimName and resourceClaimTemplateName',
    ],
    ['amounts of the pod', { spec: { resources: { limits: { cpu: 2 } } }, c: { resources: { limits: { cpu: 1 } } } }],
    [
      'too little for the containers',
      {
        spec: { resources: { requests: { cpu: 1 }, limits: { cpu: 2 } } },
        c: { resources: { requests: { cpu: '1500m' }, limits: { cpu: 3 } } },
      },
      'spec.resources.requests[cpu]: Invalid value: "1": is less than its containers request together, 1500m',
      'spec.containers[0].resources.limits[cpu]: Invalid value: "3": is more than the limit of the pod, 2',
    ],
    [
      'odd amounts of the pod',
      { spec: { resources: { limits: { 'example.com/gpu': 1 }, claims: [] } } },
      'spec.resources.claims: Forbidden: may not be set at pod level',
      'spec.resources.limits[example.com/gpu]: Unsupported value: "example.com/gpu": supported values: "cpu", "hugepages-<size>", "memory"',
    ],
    ['overhead', { spec: { overhead: { cpu: '10m' } } }],
    [
      'negative overhead',
      { spec: { overhead: { cpu: -1 } } },
      'spec.overhead[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ],
  'security of containers': [
    [
      'settings',
      security({ runAsUser: 0, runAsGroup: 2 ** 31 - 1, capabilities: { add: ['SYS_ADMIN'] }, procMount: 'Default' }),
    ],
    [
      'a negative user',
      security({ runAsUser: -1 }),
      'spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    ],
    [
      'a huge group',
      security({ runAsGroup: 2 ** 31 }),
      'spec.containers[0].securityContext.runAsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive',
    ],
    [
      'an odd proc mount',
      security({ procMount: 'x' }),
      'spec.containers[0].securityContext.procMount: Unsupported value: "x": supported values: "Default", "Unmasked"',
    ],
    [
      'an unmasked proc of host users',
      security({ procMount: 'Unmasked' }),
      'spec.containers[0].securityContext.procMount: Invalid value: "Unmasked": Unmasked needs hostUsers: false',
    ],
    [
      'an unmasked proc of own users',
      { spec: { hostUsers: false }, c: { securityContext: { procMount: 'Unmasked' } } },
    ],
    [
      'privileged without escalation',
      security({ privileged: true, allowPrivilegeEscalation: false }),
      'spec.containers[0].securityContext.allowPrivilegeEscalation: Invalid value: false: must not be false when `privileged` is true',
    ],
    [
      'CAP_SYS_ADMIN without escalation',
      security({ allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } }),
      'spec.containers[0].securityContext.allowPrivilegeEscalation: Invalid value: false: must not be false when `capabilities.add` has CAP_SYS_ADMIN',
    ],
    [
      'profiles',
      security({
        seccompProfile: { type: 'Localhost', localhostProfile: 'a/b.json' },
        appArmorProfile: { type: 'RuntimeDefault' },
      }),
    ],
    [
      'local profiles without a name',
      security({
        seccompProfile: { type: 'Localhost' },
        appArmorProfile: { type: 'Localhost', localhostProfile: ' ' },
      }),
      'spec.containers[0].securityContext.seccompProfile.localhostProfile: Required value: type Localhost needs it',
      'spec.containers[0].securityContext.appArmorProfile.localhostProfile: Required value: type Localhost needs it',
    ],
    [
      'names of profiles that are not local',
      security({
        seccompProfile: { type: 'Unconfined', localhostProfile: 'a' },
        appArmorProfile: { type: 'x', localhostProfile: 'a' },
      }),
      'spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: "a": only for type Localhost',
      'spec.containers[0].securityContext.appArmorProfile.type: Unsupported value: "x": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
      'spec.containers[0].securityContext.appArmorProfile.localhostProfile: Invalid value: "a": only for type Localhost',
    ],
    [
      'a profile upwards',
      security({ seccompProfile: { type: 'Localhost', localhostProfile: '../a' } }),
      `spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: "../a": may not go upwards with '..'`,
    ],
  ],
  'security of the pod': [
    [
      'settings',
      podSecurity({
        fsGroup: 1,
        supplementalGroups: [1],
        fsGroupChangePolicy: 'OnRootMismatch',
        sysctls: [{ name: 'net.core.somaxconn', value: '1' }],
      }),
    ],
    [
      'odd groups and words',
      podSecurity({
        fsGroup: -1,
        supplementalGroups: [-2],
        fsGroupChangePolicy: 'x',
        supplementalGroupsPolicy: 'y',
        seLinuxChangePolicy: 'z',
      }),
      'spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'spec.securityContext.supplementalGroups[0]: Invalid value: -2: must be between 0 and 2147483647, inclusive',
      'spec.securityContext.fsGroupChangePolicy: Unsupported value: "x": supported values: "Always", "OnRootMismatch"',
      'spec.securityContext.supplementalGroupsPolicy: Unsupported value: "y": supported values: "Merge", "Strict"',
      'spec.securityContext.seLinuxChangePolicy: Unsupported value: "z": supported values: "MountOption", "Recursive"',
    ],
    [
      'odd sysctls',
      podSecurity({
        sysctls: [
          { name: 'A', value: '' },
          { name: 'a.b', value: '' },
          { name: 'a.b', value: '' },
          { name: '', value: '' },
        ],
      }),
      `spec.securityContext.sysctls[0].name: Invalid value: "A": must be at most 253 lower case letters, digits, '-', '_', joined by '.' or '/'`,
      'spec.securityContext.sysctls[2].name: Duplicate value: "a.b"',
      'spec.securityContext.sysctls[3].name: Required value',
    ],
    [
      'sysctls of namespaces that the host shares',
      {
        spec: {
          hostNetwork: true,
          hostIPC: true,
          securityContext: {
            sysctls: [
              { name: 'net/ipv4/x', value: '' },
              { name: 'kernel.shmmax', value: '' },
            ],
          },
        },
      },
      'spec.securityContext.sysctls[0].name: Invalid value: "net/ipv4/x": belongs to the network of the host, which the pod shares',
      'spec.securityContext.sysctls[1].name: Invalid value: "kernel.shmmax": belongs to the IPC of the host, which the pod shares',
    ],
  ],
  'the pod': [
    [
      'an odd restart policy',
      { spec: { restartPolicy: 'x' } },
      'spec.restartPolicy: Unsupported value: "x": supported values: "Always", "Never", "OnFailure"',
    ],
    ['a deadline', { spec: { activeDeadlineSeconds: 1 } }],
    [
      'a deadline of 0',
      { spec: { activeDeadlineSeconds: 0 } },
      'spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
    ],
    ['a negative grace period, which means 1', { spec: { terminationGracePeriodSeconds: -1 } }],
    [
      'an odd runtime class',
      { spec: { runtimeClassName: 'A' } },
      `spec.runtimeClassName: Invalid value: "A": ${SUBDOMAIN}`,
    ],
    ['a shared process namespace', { spec: { shareProcessNamespace: true } }],
    [
      'one shared with the host too',
      { spec: { shareProcessNamespace: true, hostPID: true } },
      'spec.shareProcessNamespace: Invalid value: true: must not be true when hostPID is true',
    ],
    [
      'own users in the namespaces of the host',
      { spec: { hostUsers: false, hostNetwork: true, hostPID: true } },
      'spec.hostNetwork: Forbidden: not together with hostUsers: false',
      'spec.hostPID: Forbidden: not together with hostUsers: false',
    ],
    [
      'an odd system',
      { spec: { os: { name: 'plan9' } } },
      'spec.os.name: Unsupported value: "plan9": supported values: "linux", "windows"',
    ],
    [
      'options of another system',
      {
        spec: { os: { name: 'linux' }, securityContext: { windowsOptions: {} } },
        c: { securityContext: { windowsOptions: {} } },
      },
      'spec.securityContext.windowsOptions: Forbidden: this pod says that it is for linux',
      'spec.containers[0].securityContext.windowsOptions: Forbidden: this pod says that it is for linux',
    ],
  ],
  network: [
    ['names', { spec: { hostname: 'a', subdomain: 'b', hostAliases: [{ ip: '::1', hostnames: ['a.b'] }] } }],
    [
      'an odd policy',
      { spec: { dnsPolicy: 'x' } },
      'spec.dnsPolicy: Unsupported value: "x": supported values: "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"',
    ],
    ['no resolver', { spec: { dnsPolicy: 'None' } }, 'spec.dnsConfig: Required value: dnsPolicy None needs it'],
    [
      'an empty resolver',
      { spec: { dnsPolicy: 'None', dnsConfig: {} } },
      'spec.dnsConfig.nameservers: Required value: dnsPolicy None needs one',
    ],
    [
      'a resolver',
      {
        spec: {
          dnsPolicy: 'None',
          dnsConfig: {
            nameservers: ['10.0.0.1'],
            searches: ['a.b.', '_x.y', '.'],
            options: [{ name: 'ndots', value: '2' }],
          },
        },
      },
    ],
    [
      'an odd resolver',
      {
        spec: {
          dnsConfig: { nameservers: ['1', '::ffff:1.1.1.1', '1.1.1.1', '1.1.1.1'], searches: ['A'], options: [{}] },
        },
      },
      'spec.dnsConfig.nameservers: Too many: 4: must have at most 3 items',
      'spec.dnsConfig.nameservers[0]: Invalid value: "1": must be a valid IP address (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'spec.dnsConfig.nameservers[1]: Invalid value: "::ffff:1.1.1.1": must not be an IPv4-mapped IPv6 address',
      `spec.dnsConfig.searches[0]: Invalid value: "A": must be a DNS name of lower case letters, digits, '-', '_' and '.'`,
      'spec.dnsConfig.options[0].name: Required value: an option needs a name',
    ],
    [
      'too many search domains',
      { spec: { dnsConfig: { searches: many(33, () => 'a') } } },
      'spec.dnsConfig.searches: Too many: 33: must have at most 32 items',
    ],
    [
      'too long search domains',
      { spec: { dnsConfig: { searches: many(30, () => `${'a'.repeat(60)}.${'b'.repeat(30)}`) } } },
      'spec.dnsConfig.searches: Too long: may not be more than 2048 bytes',
    ],
    [
      'odd names',
      { spec: { hostname: 'a.b', subdomain: 'A' } },
      `spec.hostname: Invalid value: "a.b": ${LABEL}`,
      `spec.subdomain: Invalid value: "A": ${LABEL}`,
    ],
    [
      'odd aliases',
      { spec: { hostAliases: [{ ip: 'x', hostnames: ['_'] }] } },
      'spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address (e.g. 10.9.8.7 or 2001:db8::ffff)',
      `spec.hostAliases[0].hostnames[0]: Invalid value: "_": ${SUBDOMAIN}`,
    ],
    ['a host name of its own', { spec: { hostnameOverride: 'a.b' } }],
    [
      'a host name of its own on the host',
      { spec: { hostnameOverride: 'a'.repeat(65), hostNetwork: true, setHostnameAsFQDN: true } },
      'spec.hostnameOverride: Forbidden: not together with setHostnameAsFQDN',
      'spec.hostnameOverride: Forbidden: not together with hostNetwork',
      'spec.hostnameOverride: Too long: may not be more than 64 bytes',
    ],
  ],
  scheduling: [
    ['a node selector', { spec: { nodeSelector: { a: 'b' }, nodeName: 'n1', priorityClassName: 'p' } }],
    [
      'an odd node selector',
      { spec: { nodeSelector: { a: '-' } } },
      `spec.nodeSelector[a]: Invalid value: "-": ${VALUE}`,
    ],
    ['an odd node name', { spec: { nodeName: 'A' } }, `spec.nodeName: Invalid value: "A": ${SUBDOMAIN}`],
    ['tolerations', toleration({ key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 1 })],
    ['a toleration of everything', toleration({ operator: 'Exists' })],
    [
      'no key',
      toleration({ operator: 'Equal' }),
      'spec.tolerations[0].operator: Invalid value: "Equal": must be Exists where no key is given',
    ],
    [
      'a value that must not be',
      toleration({ key: 'a', operator: 'Exists', value: 'x' }),
      'spec.tolerations[0].value: Invalid value: "x": has no meaning with operator Exists',
    ],
    [
      'an odd operator',
      toleration({ key: 'a', operator: 'Gt', value: '1' }),
      'spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists"',
    ],
    [
      'an odd effect',
      toleration({ key: 'a', effect: 'x' }),
      'spec.tolerations[0].effect: Unsupported value: "x": supported values: "NoExecute", "NoSchedule", "PreferNoSchedule"',
    ],
    [
      'seconds of another effect',
      toleration({ key: 'a', tolerationSeconds: 1 }),
      'spec.tolerations[0].effect: Invalid value: "": must be NoExecute where tolerationSeconds is given',
    ],
    ['readiness gates', { spec: { readinessGates: [{ conditionType: 'a.b/c' }] } }],
    [
      'an odd readiness gate',
      { spec: { readinessGates: [{ conditionType: '-' }] } },
      `spec.readinessGates[0].conditionType: Invalid value: "-": ${QUALIFIED}`,
    ],
    ['scheduling gates', { spec: { schedulingGates: [{ name: 'a' }] } }],
    [
      'scheduling gates of a scheduled pod',
      { spec: { nodeName: 'n', schedulingGates: [{ name: 'a' }, { name: 'a' }] } },
      'spec.schedulingGates[1]: Duplicate value: "a"',
      'spec.nodeName: Forbidden: not before all schedulingGates are gone',
    ],
    [
      'an odd preemption policy',
      { spec: { preemptionPolicy: 'x' } },
      'spec.preemptionPolicy: Unsupported value: "x": supported values: "Never", "PreemptLowerPriority"',
    ],
    ['a spread', spread({ minDomains: 1, labelSelector: { matchLabels: { a: 'b' } }, matchLabelKeys: ['c'] })],
    [
      'an odd spread',
      spread({
        maxSkew: 0,
        topologyKey: '',
        whenUnsatisfiable: 'x',
        minDomains: 0,
        nodeTaintsPolicy: 'y',
        matchLabelKeys: ['a'],
      }),
      'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be at least 1',
      'spec.topologySpreadConstraints[0].topologyKey: Required value: which label of the nodes to spread over',
      'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "x": supported values: "DoNotSchedule", "ScheduleAnyway"',
      'spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be at least 1',
      'spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: can only be used if whenUnsatisfiable is DoNotSchedule',
      'spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "y": supported values: "Honor", "Ignore"',
      'spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: needs a labelSelector to extend',
    ],
    ['no group', { spec: { schedulingGroup: {} } }, 'spec.schedulingGroup.podGroupName: Required value'],
  ],
  affinity: [
    [
      'affinities',
      {
        spec: {
          affinity: {
            nodeAffinity: {
              [REQUIRED]: {
                nodeSelectorTerms: [
                  {
                    matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }],
                    matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }],
                  },
                ],
              },
              [PREFERRED]: [
                { weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] } },
              ],
            },
            podAntiAffinity: {
              [REQUIRED]: [
                { topologyKey: 'a.b/c', labelSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
              ],
            },
          },
        },
      },
    ],
    [
      'no term',
      { spec: { affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [] } } } } },
      `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms: Required value: without a term no node fits`,
    ],
    [
      'odd conditions',
      {
        spec: {
          affinity: {
            nodeAffinity: {
              [PREFERRED]: [
                {
                  weight: 101,
                  preference: {
                    matchExpressions: [
                      { key: 'a', operator: 'In' },
                      { key: 'a', operator: 'Exists', values: ['b'] },
                      { key: 'a', operator: 'Lt' },
                    ],
                    matchFields: [{ key: 'x', operator: 'Exists' }],
                  },
                },
              ],
            },
          },
        },
      },
      `spec.affinity.nodeAffinity.${PREFERRED}[0].weight: Invalid value: 101: must be between 1 and 100, inclusive`,
      `spec.affinity.nodeAffinity.${PREFERRED}[0].preference.matchExpressions[0].values: Required value: operators In and NotIn need values`,
      `spec.affinity.nodeAffinity.${PREFERRED}[0].preference.matchExpressions[1].values: Forbidden: operators Exists and DoesNotExist take no values`,
      `spec.affinity.nodeAffinity.${PREFERRED}[0].preference.matchExpressions[2].values: Required value: operators Lt and Gt need exactly one`,
      `spec.affinity.nodeAffinity.${PREFERRED}[0].preference.matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"`,
      `spec.affinity.nodeAffinity.${PREFERRED}[0].preference.matchFields[0].values: Required value: a field of a node is compared with exactly one`,
      `spec.affinity.nodeAffinity.${PREFERRED}[0].preference.matchFields[0].key: Invalid value: "x": must be metadata.name`,
    ],
    [
      'odd pod terms',
      {
        spec: {
          affinity: {
            podAffinity: {
              [REQUIRED]: [{ namespaces: ['A'], matchLabelKeys: ['a'], mismatchLabelKeys: ['a'], labelSelector: {} }],
            },
          },
        },
      },
      `spec.affinity.podAffinity.${REQUIRED}[0].namespaces[0]: Invalid value: "A": ${LABEL}`,
      `spec.affinity.podAffinity.${REQUIRED}[0].topologyKey: Required value`,
      `spec.affinity.podAffinity.${REQUIRED}[0].matchLabelKeys[0]: Invalid value: "a": is in mismatchLabelKeys too`,
    ],
  ],
  volumes: [
    ['a volume without a source, which is an emptyDir', volume({})],
    ['no name', { spec: { volumes: [{}] } }, 'spec.volumes[0].name: Required value'],
    [
      'a name twice',
      { spec: { volumes: [{ name: 'v' }, { name: 'v' }] } },
      'spec.volumes[1].name: Duplicate value: "v"',
    ],
    [
      'two sources',
      volume({ emptyDir: {}, hostPath: { path: '/x' } }),
      'spec.volumes[0].hostPath: Forbidden: the volume has another source already',
    ],
    [
      'a negative size',
      volume({ emptyDir: { sizeLimit: -1 } }),
      'spec.volumes[0].emptyDir.sizeLimit: Forbidden: must not be negative',
    ],
    ['a host path', volume({ hostPath: { path: '/x', type: 'Socket' } })],
    ['no host path', volume({ hostPath: {} }), 'spec.volumes[0].hostPath.path: Required value'],
    [
      'an odd host path',
      volume({ hostPath: { path: '/a/../b', type: 'x' } }),
      `spec.volumes[0].hostPath.path: Invalid value: "/a/../b": may not go upwards with '..'`,
      'spec.volumes[0].hostPath.type: Unsupported value: "x": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
    ],
    ['a secret', volume({ secret: { secretName: 's', items: [{ key: 'k', path: 'a/b', mode: 0o400 }] } })],
    [
      'an odd secret',
      volume({ secret: { defaultMode: 0o1000, items: [{ path: '/a', mode: -1 }] } }),
      'spec.volumes[0].secret.secretName: Required value',
      'spec.volumes[0].secret.defaultMode: Invalid value: 512: must be permission bits from 0 to 0777 (octal)',
      'spec.volumes[0].secret.items[0].key: Required value',
      'spec.volumes[0].secret.items[0].path: Invalid value: "/a": may not begin with a slash',
      'spec.volumes[0].secret.items[0].mode: Invalid value: -1: must be permission bits from 0 to 0777 (octal)',
    ],
    [
      'an odd config map',
      volume({ configMap: { items: [{ key: 'k', path: '..x' }] } }),
      'spec.volumes[0].configMap.name: Required value',
      `spec.volumes[0].configMap.items[0].path: Invalid value: "..x": may not begin with '..', a name that volumes use themselves`,
    ],
    [
      'fields',
      volume({
        downwardAPI: {
          items: [
            { path: 'a', fieldRef: { fieldPath: 'metadata.labels' } },
            { path: 'b', resourceFieldRef: { containerName: 'main', resource: 'limits.memory', divisor: '1Mi' } },
          ],
        },
      }),
    ],
    [
      'odd fields',
      volume({
        downwardAPI: {
          items: [
            { path: 'a' },
            { path: 'b', resourceFieldRef: { resource: 'limits.cpu' } },
            { path: 'c', fieldRef: { fieldPath: 'status.podIP' } },
          ],
        },
      }),
      'spec.volumes[0].downwardAPI.items[0]: Required value: needs fieldRef or resourceFieldRef',
      'spec.volumes[0].downwardAPI.items[1].resourceFieldRef.containerName: Required value',
      'spec.volumes[0].downwardAPI.items[2].fieldRef.fieldPath: Unsupported value: "status.podIP": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
    ],
    [
      'a projection',
      projected(
        { secret: { name: 's' } },
        { serviceAccountToken: { path: 't' } },
        { clusterTrustBundle: { name: 'n', path: 'c' } },
      ),
    ],
    [
      'odd projections',
      projected(
        { secret: {}, configMap: { name: 'c' } },
        { serviceAccountToken: { path: 't', expirationSeconds: 1 } },
        { downwardAPI: { items: [{ path: 't', fieldRef: { fieldPath: 'metadata.name' } }] } },
        { clusterTrustBundle: { path: 'b' } },
        { podCertificate: { signerName: 'x', keyType: 'y' } },
      ),
      'spec.volumes[0].projected.sources[0]: Forbidden: each source has one kind',
      'spec.volumes[0].projected.sources[0].secret.name: Required value',
      'spec.volumes[0].projected.sources[1].serviceAccountToken.expirationSeconds: Invalid value: 1: must be between 600 and 4294967296, inclusive',
      'spec.volumes[0].projected.sources[2]: Invalid value: "t": another source makes this file too',
      'spec.volumes[0].projected.sources[3].clusterTrustBundle: Required value: needs name or signerName',
      'spec.volumes[0].projected.sources[4].podCertificate.signerName: Invalid value: "x": must be a domain and a path, such as example.com/signer',
      'spec.volumes[0].projected.sources[4].podCertificate.keyType: Unsupported value: "y": supported values: "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"',
      'spec.volumes[0].projected.sources[4].podCertificate: Required value: needs credentialBundlePath, keyPath or certificateChainPath',
    ],
    [
      'a token of no account',
      volume({ projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }),
      'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: needs serviceAccountName',
    ],
    ['nfs', volume({ nfs: { server: 's', path: '/p' } })],
    [
      'an odd nfs',
      volume({ nfs: { path: 'p' } }),
      'spec.volumes[0].nfs.server: Required value',
      'spec.volumes[0].nfs.path: Invalid value: "p": must begin with a slash',
    ],
    ['iscsi', volume({ iscsi: { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:storage', lun: 0 } })],
    [
      'an odd iscsi',
      volume({ iscsi: { iqn: 'x', lun: 256, chapAuthSession: true } }),
      'spec.volumes[0].iscsi.targetPortal: Required value',
      'spec.volumes[0].iscsi.iqn: Invalid value: "x": must be a valid name starting with iqn, eui, or naa',
      'spec.volumes[0].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
      'spec.volumes[0].iscsi.secretRef: Required value',
    ],
    [
      'no fibre channel',
      volume({ fc: {} }),
      'spec.volumes[0].fc.targetWWNs: Required value: must specify targetWWNs or wwids',
    ],
    [
      'an odd fibre channel',
      volume({ fc: { targetWWNs: ['a'], wwids: ['b'] } }),
      'spec.volumes[0].fc.targetWWNs: Invalid value: ["a"]: must not be set together with wwids',
      'spec.volumes[0].fc.lun: Required value: is required with targetWWNs',
    ],
    [
      'an odd git',
      volume({ gitRepo: { directory: '..' } }),
      'spec.volumes[0].gitRepo.repository: Required value',
      `spec.volumes[0].gitRepo.directory: Invalid value: "..": may not go upwards with '..'`,
    ],
    [
      'an odd disk',
      volume({ awsElasticBlockStore: { partition: 256 } }),
      'spec.volumes[0].awsElasticBlockStore.volumeID: Required value',
      'spec.volumes[0].awsElasticBlockStore.partition: Invalid value: 256: must be between 0 and 255, inclusive',
    ],
    [
      'an odd flocker',
      volume({ flocker: { datasetName: 'a/b', datasetUUID: 'c' } }),
      'spec.volumes[0].flocker: Invalid value: "a/b": must not set both datasetName and datasetUUID',
      `spec.volumes[0].flocker.datasetName: Invalid value: "a/b": may not have '/' in it`,
    ],
    [
      'an odd quobyte',
      volume({ quobyte: { registry: 'a', volume: 'v' } }),
      'spec.volumes[0].quobyte.registry: Invalid value: "a": must be host:port pairs separated by commas',
    ],
    [
      'an odd flex',
      volume({ flexVolume: { options: { 'a.k8s.io/b': 'c' } } }),
      'spec.volumes[0].flexVolume.driver: Required value',
      'spec.volumes[0].flexVolume.options[a.k8s.io/b]: Invalid value: "a.k8s.io/b": must not be in the namespaces kubernetes.io and k8s.io',
    ],
    [
      'an odd azure disk',
      volume({ azureDisk: { diskName: 'a', diskURI: '/x', kind: 'Managed', cachingMode: 'y' } }),
      'spec.volumes[0].azureDisk.cachingMode: Unsupported value: "y": supported values: "None", "ReadOnly", "ReadWrite"',
      'spec.volumes[0].azureDisk.diskURI: Invalid value: "/x": must start with /subscriptions/',
    ],
    [
      'an odd storageos',
      volume({ storageos: { volumeName: 'A', secretRef: {} } }),
      `spec.volumes[0].storageos.volumeName: Invalid value: "A": ${LABEL}`,
      'spec.volumes[0].storageos.secretRef.name: Required value',
    ],
    [
      'an odd csi',
      volume({ csi: { driver: 'a_b', nodePublishSecretRef: {} } }),
      `spec.volumes[0].csi.driver: Invalid value: "a_b": ${SUBDOMAIN}`,
      'spec.volumes[0].csi.nodePublishSecretRef.name: Required value',
    ],
    ['an image', volume({ image: { reference: 'a' } })],
    [
      'no image',
      volume({ image: { pullPolicy: 'x' } }),
      'spec.volumes[0].image.reference: Required value',
      'spec.volumes[0].image.pullPolicy: Unsupported value: "x": supported values: "Always", "IfNotPresent", "Never"',
    ],
    [
      'a claim',
      volume({ persistentVolumeClaim: {} }),
      'spec.volumes[0].persistentVolumeClaim.claimName: Required value',
    ],
    [
      'a claim that another volume makes',
      {
        spec: {
          volumes: [
            {
              name: 'e',
              ephemeral: {
                volumeClaimTemplate: {
                  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
                },
              },
            },
            { name: 'c', persistentVolumeClaim: { claimName: 'web-e' } },
          ],
        },
      },
      'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "web-e": is the claim that an ephemeral volume of this pod makes',
    ],
    [
      'an empty claim template',
      volume({ ephemeral: { volumeClaimTemplate: {} } }),
      'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: a claim needs an access mode',
      'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: Required value',
    ],
    [
      'other kinds',
      volume({ rbd: {} }),
      'spec.volumes[0].rbd.monitors: Required value',
      'spec.volumes[0].rbd.image: Required value',
    ],
  ],
}

for (const [family, rows] of Object.entries(families)) {
  describe(`validatePod() on ${family}`, () => {
    for (const [name, given, ...expected] of rows) {
      test(`${expected.length === 0 ? 'accepts' : 'refuses'}: ${name}`, () => {
        assert.deepEqual(problemsOf(given), expected)
      })
    }
  })
}
