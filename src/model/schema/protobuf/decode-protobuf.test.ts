import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeProtobuf, parseEnvelope } from './decode-protobuf.ts'

type Part = readonly [number: number, value: number | bigint | string | readonly Part[] | Uint8Array]

/** A message of its parts, written by hand as the wire format has it. */
function message(...parts: readonly Part[]): Uint8Array {
  return Buffer.concat(
    parts.map(([number, value]) => {
      if (typeof value === 'number' || typeof value === 'bigint') {
        return Buffer.concat([varint(BigInt(number * 8)), varint(BigInt.asUintN(64, BigInt(value)))])
      }
      const body =
        typeof value === 'string' ? Buffer.from(value) : value instanceof Uint8Array ? value : message(...value)
      return Buffer.concat([varint(BigInt(number * 8 + 2)), varint(BigInt(body.length)), body])
    }),
  )
}

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)])
    bytes.push(Number(rest & 127n) | 128)
  }
}

describe('decodeProtobuf()', () => {
  const rows: readonly (readonly [string, string, readonly Part[], object])[] = [
    [
      'texts and maps',
      'ConfigMap',
      [
        [1, [[1, 'cm']]],
        [
          2,
          [
            [1, 'a'],
            [2, '1'],
          ],
        ],
        [
          2,
          [
            [1, '__proto__'],
            [2, 'x'],
          ],
        ],
      ],
      JSON.parse('{"metadata":{"name":"cm"},"data":{"a":"1","__proto__":"x"}}'),
    ],
    [
      'bytes',
      'Secret',
      [
        [
          2,
          [
            [1, 'k'],
            [2, Uint8Array.of(0, 255)],
          ],
        ],
      ],
      { data: { k: 'AP8=' } },
    ],
    [
      'an inlined type',
      'Volume',
      [
        [1, 'v'],
        [2, [[2, [[1, 'Memory']]]]],
      ],
      { name: 'v', emptyDir: { medium: 'Memory' } },
    ],
    [
      'amounts',
      'ResourceRequirements',
      [
        [
          1,
          [
            [1, 'cpu'],
            [2, [[1, '100m']]],
          ],
        ],
      ],
      { limits: { cpu: '100m' } },
    ],
    [
      'times',
      'PodCondition',
      [
        [1, 'Ready'],
        [4, [[1, 1_700_000_000]]],
      ],
      { type: 'Ready', lastTransitionTime: '2023-11-14T22:13:20Z' },
    ],
    [
      'finer times',
      'LeaseSpec',
      [
        [
          4,
          [
            [1, 1_700_000_000],
            [2, 1000],
          ],
        ],
      ],
      { renewTime: '2023-11-14T22:13:20.000001Z' },
    ],
    ['no time', 'ObjectMeta', [[8, []]], {}],
    [
      'a port by number',
      'TCPSocketAction',
      [
        [
          1,
          [
            [1, 0],
            [2, 80],
          ],
        ],
      ],
      { port: 80 },
    ],
    [
      'a port by name',
      'TCPSocketAction',
      [
        [
          1,
          [
            [1, 1],
            [3, 'http'],
          ],
        ],
      ],
      { port: 'http' },
    ],
    ['negative numbers', 'PodSpec', [[25, -5]], { priority: -5 }],
    ['numbers that are exact only as such', 'PodSpec', [[5, 2n ** 62n]], { activeDeadlineSeconds: 2n ** 62n }],
    [
      'lists one by one and at once',
      'PodSecurityContext',
      [
        [4, 1],
        [4, Uint8Array.of(2, 0xac, 0x02)],
      ],
      { supplementalGroups: [1, 2, 300] },
    ],
    [
      'a list in a map',
      'UserInfo',
      [
        [
          4,
          [
            [1, 'k'],
            [
              2,
              [
                [1, 'a'],
                [1, 'b'],
              ],
            ],
          ],
        ],
      ],
      { extra: { k: ['a', 'b'] } },
    ],
    [
      'fields that nobody knows',
      'ConfigMap',
      [
        [99, 'x'],
        [4, 1],
      ],
      { immutable: true },
    ],
  ]
  for (const [name, type, parts, expected] of rows) {
    test(`reads ${name}`, () => assert.deepEqual(decodeProtobuf(message(...parts), type), expected))
  }

  const wrong: readonly (readonly [string, Uint8Array])[] = [
    ['a length beyond the end', Uint8Array.of(0x0a, 0x7f, 1)],
    ['a number without an end', Uint8Array.of(0x20, ...Array<number>(11).fill(0xff))],
    ['a field number of zero', Uint8Array.of(0x02, 0x00)],
    ['groups', Uint8Array.of(0x0b)],
    ['a number for a message', message([1, 5])],
    ['a text that is not UTF-8', message([1, [[1, Uint8Array.of(0xff)]]])],
  ]
  for (const [name, bytes] of wrong) {
    test(`refuses ${name}`, () => assert.throws(() => decodeProtobuf(bytes, 'ConfigMap'), { name: 'ProtobufError' }))
  }

  test('refuses a list of numbers that is cut short', () =>
    assert.throws(() => decodeProtobuf(message([4, Uint8Array.of(2, 0xac)]), 'PodSecurityContext'), {
      name: 'ProtobufError',
    }))
})

describe('parseEnvelope()', () => {
  test('says what the object is', () => {
    const bytes = Buffer.concat([
      Uint8Array.of(0x6b, 0x38, 0x73, 0),
      message(
        [
          1,
          [
            [1, 'v1'],
            [2, 'Pod'],
          ],
        ],
        [2, 'raw'],
      ),
    ])
    assert.deepEqual(parseEnvelope(bytes), { apiVersion: 'v1', kind: 'Pod', raw: bytes.subarray(-3) })
  })

  test('refuses what has no magic number', () =>
    assert.throws(() => parseEnvelope(Uint8Array.of(1, 2, 3, 4)), /expected an object/))
})
