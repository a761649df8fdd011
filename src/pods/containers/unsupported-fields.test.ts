import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { PodSpec } from '../../model/generated/core-v1.ts'
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
    capability: 'imageVolumes',
    spec: { volumes: [{ name: 'a', image: { reference: 'data:1' } }] },
    expected: ['reject spec.volumes[0].image'],
  },
  {
    capability: 'imageVolumes',
    spec: {
      volumes: [{ name: 'a', image: { reference: 'data:1' } }],
      containers: [createContainer({ volumeMounts: [{ name: 'a', mountPath: '/a' }] })],
    },
    expected: ['reject spec.volumes[0].image'],
  },
  {
    capability: 'resourceClaims',
    spec: {
      resourceClaims: [{ name: 'gpu' }],
      containers: [createContainer({ resources: { claims: [{ name: 'gpu' }] } })],
    },
    expected: ['reject spec.resourceClaims', 'reject spec.containers[0].resources.claims'],
  },
  { capability: 'userNamespaces', spec: { hostUsers: false }, expected: ['reject spec.hostUsers'] },
  { capability: 'userNamespaces', spec: { hostUsers: false, runtimeClassName: 'kata' }, expected: [] },
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
      runtimeClassName: 'kata',
      securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] },
      volumes: [],
      activeDeadlineSeconds: 5,
      ephemeralContainers: [{ name: 'look', terminationMessagePath: '/dev/termination-log' }],
    }
    assert.deepEqual(unsupportedFields(createPod({ spec }), new Set()), [])
  })

  test('a part of an image is another question than an image', () => {
    const mount = (parts: object) => createContainer({ volumeMounts: [{ name: 'a', mountPath: '/a', ...parts }] })
    const containers = [mount({}), mount({ subPath: 'b' }), mount({ subPathExpr: '$(B)' })]
    const pod = createPod({ spec: { volumes: [{ name: 'a', image: { reference: 'data:1' } }], containers } })
    const paths = (...capabilities: PodCapability[]) =>
      unsupportedFields(pod, new Set(capabilities)).map(({ path }) => path)
    assert.deepEqual(paths('imageVolumes'), ['spec.containers[1].volumeMounts', 'spec.containers[2].volumeMounts'])
    assert.deepEqual(paths('imageVolumes', 'imageSubPaths'), [])
  })

  test('a signal needs the gate and a runtime that follows it', () => {
    const lifecycle = { postStart: probe, preStop: probe, stopSignal: 'SIGINT' }
    const pod = createPod({ spec: { containers: [createContainer({ lifecycle })] } })
    const reasons = (...capabilities: PodCapability[]) =>
      unsupportedFields(pod, new Set(capabilities)).map(
        ({ effect, path, reason }) => `${effect} ${path}: ${reason.split(':')[0]}`,
      )
    const field = 'warn spec.containers[0].lifecycle.stopSignal'
    assert.deepEqual(reasons('runtimeStopSignals'), [`${field}: the feature gate ContainerStopSignals is off`])
    assert.deepEqual(reasons('stopSignals'), [
      `${field}: the container runtime does not follow it, containerd does from 2.3 on`,
    ])
    assert.deepEqual(reasons('stopSignals', 'runtimeStopSignals'), [])
  })

  test('says why', () => {
    assert.deepEqual(unsupportedFields(createPod({ spec: { hostUsers: false } }), new Set()), [
      {
        path: 'spec.hostUsers',
        reason:
          'the container runtime does not support user namespaces; containerd does from 2.0 on, CRI-O from 1.25 on, Docker has none for single pods',
        effect: 'reject',
      },
    ])
  })
})
