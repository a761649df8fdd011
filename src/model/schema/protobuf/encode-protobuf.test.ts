import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assert as check, bigInt, property } from 'fast-check'
import { apiTypes } from '../api-types.ts'
import { decodeProtobuf } from './decode-protobuf.ts'
import { encodeProtobuf } from './encode-protobuf.ts'
import { podTypes } from '../object-type.ts'

const POD = {
  metadata: {
    name: 'web',
    namespace: 'default',
    uid: 'u-1',
    labels: { app: 'web', ['__proto__']: 'x' },
    creationTimestamp: '2023-11-14T22:13:20Z',
    deletionGracePeriodSeconds: 0,
  },
  spec: {
    priority: -5,
    activeDeadlineSeconds: 2n ** 62n,
    hostNetwork: false,
    securityContext: { supplementalGroups: [1, 300] },
    volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } }],
    containers: [
      {
        name: 'c',
        image: 'busybox',
        command: ['sh', '-c', 'ünï'],
        resources: { limits: { cpu: '100m' } },
        livenessProbe: { tcpSocket: { port: 'http' } },
        readinessProbe: { httpGet: { path: '/', port: 8080 } },
      },
    ],
  },
  status: {
    phase: 'Running',
    containerStatuses: [
      { name: 'c', ready: true, restartCount: 3, image: 'busybox', imageID: '', state: { running: {} } },
    ],
  },
}

describe('encodeProtobuf()', () => {
  test('writes what decodeProtobuf() reads as the same', () => {
    assert.deepEqual(decodeProtobuf(encodeProtobuf(POD, 'Pod', podTypes), 'Pod'), POD)
  })

  const rows: readonly (readonly [string, string, object, readonly number[]])[] = [
    ['nothing of what is not set', 'LocalObjectReference', { name: undefined }, []],
    ['a text', 'LocalObjectReference', { name: 'ab' }, [0x0a, 2, 0x61, 0x62]],
    ['a number and false', 'ConfigMap', { immutable: false }, [0x20, 0]],
    ['bytes in a map', 'Secret', { data: { k: 'AP8=' } }, [0x12, 7, 0x0a, 1, 0x6b, 0x12, 2, 0, 255]],
    ['a list in a map', 'UserInfo', { extra: { k: ['a'] } }, [0x22, 8, 0x0a, 1, 0x6b, 0x12, 3, 0x0a, 1, 0x61]],
    ['parts of seconds', 'ObjectMeta', { creationTimestamp: '1970-01-01T00:00:01.000000001Z' }, [0x42, 4, 8, 1, 16, 1]],
    ['managed fields', 'ManagedFieldsEntry', { fieldsV1: {} }, [0x3a, 4, 0x0a, 2, 0x7b, 0x7d]],
  ]
  for (const [name, type, value, expected] of rows) {
    test(`writes ${name}`, () => assert.deepEqual([...encodeProtobuf(value, type, apiTypes)], expected))
  }

  test('loses no number', () => {
    check(
      property(bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (number) => {
        const bytes = encodeProtobuf({ activeDeadlineSeconds: number }, 'PodSpec', podTypes)
        const read = decodeProtobuf(bytes, 'PodSpec')['activeDeadlineSeconds']
        assert.equal(BigInt(read as number | bigint), number)
      }),
    )
  })
})
