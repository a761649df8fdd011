import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultPullPolicy } from './default-container.ts'
import { decodeObject } from './decode-object.ts'
import { defaultPod } from './default-pod.ts'
import type { ManifestPod } from './default-pod.ts'
import type { DocumentObject, DocumentValue } from '../../base/document/document-value.ts'

const CONTAINER = {
  imagePullPolicy: 'Always',
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  resources: {},
}
const POD = {
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
  schedulerName: 'default-scheduler',
  enableServiceLinks: true,
}
const PROBE = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }

function defaulted(spec: DocumentValue): unknown {
  const { value } = decodeObject({ metadata: { name: 'a' }, spec }, 'Pod')
  return defaultPod(value as unknown as ManifestPod).spec
}

function defaultedContainer(fields: DocumentObject): unknown {
  const { containers } = defaulted({ containers: [{ name: 'c', image: 'i', ...fields }] }) as ManifestPod['spec']
  return containers[0]
}

function defaultedVolume(source: DocumentObject): unknown {
  const { volumes } = defaulted({ containers: [], volumes: [{ name: 'v', ...source }] }) as ManifestPod['spec']
  return volumes?.[0]
}

describe('defaultPod()', () => {
  test('fills a pod, its init and its ephemeral containers', () => {
    const container = { name: 'c', image: 'i', ...CONTAINER }
    assert.deepEqual(
      defaulted({
        containers: [{ name: 'c', image: 'i' }],
        initContainers: [{ name: 'c', image: 'i' }],
        ephemeralContainers: [{ name: 'c', image: 'i' }],
        serviceAccount: 'old',
      }),
      {
        containers: [container],
        initContainers: [container],
        ephemeralContainers: [container],
        serviceAccount: 'old',
        serviceAccountName: 'old',
        ...POD,
      },
    )
  })

  test('leaves what is set', () => {
    const spec = {
      ...POD,
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      enableServiceLinks: false,
      containers: [],
    }
    assert.deepEqual(defaulted(spec), spec)
  })

  const containers: readonly (readonly [string, DocumentObject, object])[] = [
    [
      'requests from limits',
      { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } } },
      { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m', memory: '1Gi' } } },
    ],
    [
      'an HTTP probe',
      { livenessProbe: { httpGet: { port: 80 } } },
      { livenessProbe: { ...PROBE, httpGet: { port: 80, path: '/', scheme: 'HTTP' } } },
    ],
    [
      'a gRPC probe',
      { startupProbe: { grpc: { port: 80 }, timeoutSeconds: 5 } },
      { startupProbe: { ...PROBE, timeoutSeconds: 5, grpc: { port: 80, service: '' } } },
    ],
    [
      'hooks',
      { lifecycle: { preStop: { httpGet: { port: 'web' } } } },
      { lifecycle: { preStop: { httpGet: { port: 'web', path: '/', scheme: 'HTTP' } } } },
    ],
    [
      'field references',
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v1' } } }] },
    ],
    [
      'file references',
      { env: [{ name: 'A', valueFrom: { fileKeyRef: { key: 'k', path: 'p', volumeName: 'v' } } }] },
      { env: [{ name: 'A', valueFrom: { fileKeyRef: { key: 'k', path: 'p', volumeName: 'v', optional: false } } }] },
    ],
    [
      'thousandths as the finest amount',
      { resources: { requests: { cpu: '1u' } } },
      { resources: { requests: { cpu: '1m' } } },
    ],
  ]
  for (const [name, given, expected] of containers) {
    test(`fills ${name}`, () => {
      assert.deepEqual(defaultedContainer(given), { name: 'c', image: 'i', ...CONTAINER, ...expected })
    })
  }

  const volumes: readonly (readonly [string, DocumentObject, object])[] = [
    ['no source', {}, { emptyDir: {} }],
    ['a host path', { hostPath: { path: '/x' } }, { hostPath: { path: '/x', type: '' } }],
    ['a secret', { secret: { secretName: 's' } }, { secret: { secretName: 's', defaultMode: 420 } }],
    ['a config map', { configMap: { name: 's', defaultMode: 0 } }, { configMap: { name: 's', defaultMode: 0 } }],
    [
      'fields',
      { downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'x' } }] } },
      { downwardAPI: { defaultMode: 420, items: [{ path: 'a', fieldRef: { fieldPath: 'x', apiVersion: 'v1' } }] } },
    ],
    [
      'a token',
      { projected: { sources: [{ serviceAccountToken: { path: 'p' } }] } },
      { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { path: 'p', expirationSeconds: 3600 } }] } },
    ],
    ['an image', { image: { reference: 'a:1' } }, { image: { reference: 'a:1', pullPolicy: 'IfNotPresent' } }],
    [
      'a claim template',
      { ephemeral: { volumeClaimTemplate: { spec: {} } } },
      { ephemeral: { volumeClaimTemplate: { spec: { volumeMode: 'Filesystem' } } } },
    ],
    [
      'iscsi',
      { iscsi: { iqn: 'i', lun: 0, targetPortal: 'p' } },
      { iscsi: { iqn: 'i', lun: 0, targetPortal: 'p', iscsiInterface: 'default' } },
    ],
  ]
  for (const [name, given, expected] of volumes) {
    test(`fills a volume with ${name}`, () => assert.deepEqual(defaultedVolume(given), { name: 'v', ...expected }))
  }

  test('gives ports on the network of the host their host port', () => {
    const spec = defaulted({
      hostNetwork: true,
      containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }],
    }) as ManifestPod['spec']
    assert.deepEqual(spec.containers[0]?.ports, [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }])
  })

  test('derives amounts of the pod from those of its containers', () => {
    const spec = defaulted({
      resources: { limits: { cpu: '4', memory: '1Gi' } },
      containers: [{ name: 'a', resources: { requests: { cpu: '1' } } }],
      initContainers: [
        { name: 'side', restartPolicy: 'Always', resources: { requests: { cpu: '500m' } } },
        { name: 'init', resources: { requests: { cpu: '2' } } },
      ],
    }) as ManifestPod['spec']
    assert.deepEqual(spec.resources, {
      limits: { cpu: '4', memory: '1Gi' },
      requests: { cpu: '2500m', memory: '1Gi' },
    })
  })
})

test('defaultPullPolicy() is Always for latest, said or meant', () => {
  const rows = [
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1.2', 'IfNotPresent'],
    ['localhost:5000/a/b', 'Always'],
    ['localhost:5000/a/b:1', 'IfNotPresent'],
    [`nginx@sha256:${'a'.repeat(64)}`, 'IfNotPresent'],
    [`nginx:latest@sha256:${'a'.repeat(64)}`, 'Always'],
    ['', 'IfNotPresent'],
    ['Not An Image', 'IfNotPresent'],
  ] as const
  for (const [image, expected] of rows) assert.equal(defaultPullPolicy(image), expected, image)
})
