import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../test/builders/create-pod.ts'
import type { PodSpec } from '../model/generated/core-v1.ts'
import { unsupportedFields } from './unsupported-fields.ts'
import type { PodCapability } from './unsupported-fields.ts'

const probe = { exec: { command: ['true'] } }

interface Row {
  readonly capability: PodCapability
  readonly spec: Partial<PodSpec>
  readonly expected: readonly string[]
}

const rows: readonly Row[] = [
  {
    capability: 'sysctls',
    spec: {
      securityContext: {
        sysctls: [
          { name: 'net/ipv4/ip_local_port_range', value: '1024 65000' },
          { name: 'kernel.msgmax', value: '1' },
        ],
      },
    },
    expected: ['refuse spec.securityContext.sysctls[1]'],
  },
  { capability: 'admission', spec: { os: { name: 'windows' } }, expected: ['refuse spec.os.name'] },
  { capability: 'admission', spec: { os: { name: 'linux' } }, expected: [] },
  {
    capability: 'admission',
    spec: { nodeSelector: { a: 'b' }, affinity: { nodeAffinity: {} } },
    expected: ['warn spec.nodeSelector', 'warn spec.affinity.nodeAffinity'],
  },
  { capability: 'podResources', spec: { resources: { limits: { cpu: '1' } } }, expected: ['warn spec.resources'] },
  {
    capability: 'volumes',
    spec: {
      volumes: [{ name: 'a', emptyDir: {} }],
      containers: [createContainer({ volumeMounts: [{ name: 'a', mountPath: '/a' }] })],
      initContainers: [createContainer({ volumeDevices: [{ name: 'a', devicePath: '/dev/a' }] })],
    },
    expected: [
      'refuse spec.volumes[0]',
      'refuse spec.containers[0].volumeMounts',
      'refuse spec.initContainers[0].volumeDevices',
    ],
  },
  {
    capability: 'imageVolumes',
    spec: { volumes: [{ name: 'a', image: { reference: 'data:1' } }] },
    expected: ['refuse spec.volumes[0].image'],
  },
  {
    capability: 'resourceClaims',
    spec: {
      resourceClaims: [{ name: 'gpu' }],
      containers: [createContainer({ resources: { claims: [{ name: 'gpu' }] } })],
    },
    expected: ['refuse spec.resourceClaims', 'refuse spec.containers[0].resources.claims'],
  },
  { capability: 'userNamespaces', spec: { hostUsers: false }, expected: ['refuse spec.hostUsers'] },
  { capability: 'runtimeClasses', spec: { runtimeClassName: 'kata' }, expected: ['refuse spec.runtimeClassName'] },
  {
    capability: 'stopSignals',
    spec: { containers: [createContainer({ lifecycle: { postStart: probe, preStop: probe, stopSignal: 'SIGINT' } })] },
    expected: ['warn spec.containers[0].lifecycle.stopSignal'],
  },
]

describe('unsupportedFields()', () => {
  for (const { capability, spec, expected } of rows) {
    test(`${capability}: named while the agent cannot do it, not afterwards`, () => {
      const pod = createPod({ spec })
      assert.deepEqual(
        unsupportedFields(pod, new Set()).map(({ effect, path }) => `${effect} ${path}`),
        expected,
      )
      assert.deepEqual(unsupportedFields(pod, new Set([capability])), [])
    })
  }

  test('nothing is said about what is honoured', () => {
    const spec: Partial<PodSpec> = {
      hostUsers: true,
      runtimeClassName: '',
      volumes: [],
      activeDeadlineSeconds: 5,
      ephemeralContainers: [{ name: 'look', terminationMessagePath: '/dev/termination-log' }],
    }
    assert.deepEqual(unsupportedFields(createPod({ spec }), new Set()), [])
  })

  test('says why', () => {
    assert.deepEqual(unsupportedFields(createPod({ spec: { runtimeClassName: 'kata' } }), new Set()), [
      { path: 'spec.runtimeClassName', reason: 'runtime classes are not known here', effect: 'refuse' },
    ])
  })
})
