import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeObject } from './decode-object.ts'
import type { DocumentValue } from '../../base/document/document-value.ts'

function remarks(value: DocumentValue): { errors: string[]; warnings: string[] } {
  const { errors, warnings } = decodeObject(value, 'Pod')
  const show = ({ path, rule }: { path: { toString(): string }; rule: string }) => `${path.toString()}: ${rule}`
  return { errors: errors.map(show), warnings: warnings.map(show) }
}

function container(fields: DocumentValue): DocumentValue {
  return { spec: { containers: [fields] } }
}

describe('decodeObject()', () => {
  const errors: readonly (readonly [string, DocumentValue, string])[] = [
    ['a number for text', container({ image: 1 }), 'spec.containers[0].image: Invalid value: 1: expected a string'],
    ['text for a number', { spec: { priority: '1' } }, 'spec.priority: Invalid value: "1": expected a whole number'],
    ['a fraction', { spec: { priority: 1.5 } }, 'spec.priority: Invalid value: 1.5: expected a whole number'],
    [
      'more than 32 bits',
      { spec: { priority: 3_000_000_000 } },
      'spec.priority: Invalid value: 3000000000: expected a whole number of 32 bits',
    ],
    [
      'more than 64 bits',
      { spec: { activeDeadlineSeconds: 9223372036854775808n } },
      'spec.activeDeadlineSeconds: Invalid value: 9223372036854775808: expected a whole number of 64 bits, written in digits',
    ],
    [
      'what is rounded already',
      { spec: { activeDeadlineSeconds: 1e18 } },
      'spec.activeDeadlineSeconds: Invalid value: 1000000000000000000: expected a whole number of 64 bits, written in digits',
    ],
    [
      'text for a boolean',
      { spec: { hostPID: 'true' } },
      'spec.hostPID: Invalid value: "true": expected true or false',
    ],
    ['a map for a list', { spec: { containers: {} } }, 'spec.containers: Invalid value: a map: expected a list'],
    ['a list for a map', { metadata: { labels: [] } }, 'metadata.labels: Invalid value: a list: expected a map'],
    ['text for an object', { spec: 'x' }, 'spec: Invalid value: "x": expected a map of fields'],
    [
      'a label that is a number',
      { metadata: { labels: { a: 1 } } },
      'metadata.labels[a]: Invalid value: 1: expected a string',
    ],
    [
      'no amount',
      container({ resources: { limits: { cpu: 'much' } } }),
      'spec.containers[0].resources.limits[cpu]: Invalid value: "much": expected an amount such as 100m, 1.5 or 2Gi',
    ],
    [
      'no time',
      { metadata: { creationTimestamp: 'today' } },
      'metadata.creationTimestamp: Invalid value: "today": expected a time such as 2026-01-31T12:00:00Z',
    ],
    [
      'a port that is true',
      container({ livenessProbe: { tcpSocket: { port: true } } }),
      'spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: true: expected a whole number or a string',
    ],
  ]
  for (const [name, value, expected] of errors) {
    test(`refuses ${name}`, () => assert.deepEqual(remarks(value), { errors: [expected], warnings: [] }))
  }

  test('keeps integers of 64 bits exactly', () => {
    const spec = {
      containers: [],
      terminationGracePeriodSeconds: 9223372036854775807n,
      tolerations: [{ tolerationSeconds: -9223372036854775808n }],
      activeDeadlineSeconds: 9007199254740991,
    }
    const { value, errors } = decodeObject({ spec }, 'Pod')
    assert.deepEqual([value['spec'], errors], [spec, []])
  })

  test('names each unknown field with the nearest known one, and leaves it out', () => {
    const value = { metadata: { naem: 'x' }, spec: { containers: [{ name: 'a', zzz: { b: 1 } }] } }
    assert.deepEqual(remarks(value).warnings, [
      'metadata.naem: unknown field, ignored, did you mean "name"?',
      'spec.containers[0].zzz: unknown field, ignored',
    ])
    assert.deepEqual(decodeObject(value, 'Pod').value, { metadata: {}, spec: { containers: [{ name: 'a' }] } })
  })

  test('names a list entry that hides another', () => {
    const value = container({ name: 'a', env: [{ name: 'X' }, { name: 'Y' }, { name: 'X' }] })
    assert.deepEqual(remarks(value).warnings, ['spec.containers[0].env[2]: Duplicate value: "X"'])
  })

  test('fills required fields and constant defaults, takes null as absent, writes amounts in one way', () => {
    const value = {
      spec: {
        nodeName: null,
        containers: [
          {
            command: ['a', null],
            ports: [{ containerPort: 80 }, { containerPort: 81, protocol: '' }],
            resources: { limits: { cpu: 0.5, memory: '1024Mi', big: 18446744073709551616n } },
          },
        ],
        volumes: [{ name: 'v', rbd: { monitors: [], image: 'i', pool: '' } }],
      },
    }
    assert.deepEqual(decodeObject(value, 'Pod').value, {
      spec: {
        containers: [
          {
            name: '',
            command: ['a', ''],
            ports: [
              { containerPort: 80, protocol: 'TCP' },
              { containerPort: 81, protocol: 'TCP' },
            ],
            resources: { limits: { cpu: '500m', memory: '1Gi', big: '9223372036854775807' } },
          },
        ],
        volumes: [
          {
            name: 'v',
            rbd: { monitors: [], image: 'i', pool: 'rbd', keyring: '/etc/ceph/keyring', user: 'admin' },
          },
        ],
      },
    })
  })
})
