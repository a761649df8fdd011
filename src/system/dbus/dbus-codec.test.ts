import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import { DbusFormatError } from './dbus-error.ts'
import { type DbusMessage, decodeMessage, encodeMessage, MessageSplitter } from './dbus-message.ts'
import { DbusReader } from './dbus-reader.ts'
import type { DbusValue } from './dbus-value.ts'
import { DbusWriter } from './dbus-writer.ts'

interface Typed {
  readonly signature: string
  readonly value: DbusValue
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((value) => !value.includes('\0'))
const withSignature = (signature: string, values: fc.Arbitrary<DbusValue>) =>
  values.map((value): Typed => ({ signature, value }))
const keys = [
  withSignature('y', fc.nat(255)),
  withSignature('b', fc.boolean()),
  withSignature('n', fc.integer({ min: -32_768, max: 32_767 })),
  withSignature('q', fc.nat(65_535)),
  withSignature('i', fc.integer()),
  withSignature('u', fc.nat(2 ** 32 - 1)),
  withSignature('x', fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)),
  withSignature('t', fc.bigInt(0n, 2n ** 64n - 1n)),
  withSignature('s', text),
  withSignature('o', fc.constantFrom('/', '/org/freedesktop/login1')),
  withSignature('g', fc.constantFrom('', 's', 'a{sv}', '(uo)')),
]
const { any: anyTyped } = fc.letrec<{ any: Typed }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    ...keys,
    withSignature('d', fc.double()),
    tie('any').map((inner): Typed => ({ signature: 'v', value: inner })),
    fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((fields): Typed => ({
      signature: `(${fields.map((each) => each.signature).join('')})`,
      value: fields.map((each) => each.value),
    })),
    fc.tuple(tie('any'), fc.nat(3)).map(([item, count]): Typed => ({
      signature: `a${item.signature}`,
      value: Array.from({ length: count }, () => item.value),
    })),
    fc.tuple(fc.oneof(...keys), tie('any'), fc.boolean()).map(([key, item, isEmpty]): Typed => ({
      signature: `a{${key.signature}${item.signature}}`,
      value: new Map(isEmpty ? [] : [[key.value, item.value]]),
    })),
  ),
}))

describe('D-Bus values', () => {
  test('what is written is read again, whatever the types', () => {
    fc.assert(
      fc.property(fc.array(anyTyped, { maxLength: 4 }), (parts) => {
        const signature = parts.map((each) => each.signature).join('')
        fc.pre(signature.length < 256)
        const values = parts.map((each) => each.value)
        const writer = new DbusWriter()
        writer.writeAll(signature, values)
        assert.deepEqual(new DbusReader(writer.bytes(), true).readAll(signature), values)
      }),
    )
  })

  test('any bytes are read as something or refused, never more', () => {
    const signatures = fc.constantFrom('v', 'a{sv}', 'aay', '(sob)', 'a(yv)', 'dxt')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), signatures, fc.boolean(), (bytes, signature, little) => {
        try {
          new DbusReader(Buffer.from(bytes), little).readAll(signature)
        } catch (error) {
          assert.ok(error instanceof DbusFormatError, String(error))
        }
      }),
    )
  })

  test('bytes are as the protocol lays them out', () => {
    const writer = new DbusWriter()
    writer.writeAll('ya(yn)s', [1, [[2, 3]], 'ab'])
    // A byte and padding to the length of the array, the length (without the padding before the first struct), the struct, the text.
    assert.equal(writer.bytes().toString('hex'), '01000000040000000200030002000000616200')
  })

  test('big endian is read too', () => {
    const bytes = Buffer.from([0, 0, 0, 7, 0, 0, 0, 1, 104, 0, 255, 254])
    assert.deepEqual(new DbusReader(bytes, false).readAll('usn'), [7, 'h', -2])
  })

  for (const [signature, values] of [
    ['u', [-1]],
    ['u', [1n]],
    ['t', [1]],
    ['y', [256]],
    ['i', [1.5]],
    ['b', [1]],
    ['s', ['a\0b']],
    ['s', ['\ud800']],
    ['v', ['bare']],
    ['v', [{ signature: 'ss', value: ['a', 'b'] }]],
    ['(ss)', [['one']]],
    ['a{sv}', [[]]],
    ['ss', ['one']],
    ['a', [[]]],
    ['(', []],
    ['()', [[]]],
    ['a{vs}', [new Map()]],
    ['a{sss}', [new Map()]],
    ['z', [1]],
    ['a'.repeat(80) + 'y', [[]]],
  ] as const) {
    test(`refuses to write ${inspect(values)} as ${signature.slice(0, 10)}`, () => {
      assert.throws(() => new DbusWriter().writeAll(signature, values as readonly DbusValue[]), DbusFormatError)
    })
  }
})

const call: DbusMessage = {
  kind: 'call',
  serial: 7,
  replySerial: undefined,
  path: '/org/freedesktop/login1',
  interface: 'org.freedesktop.DBus.Properties',
  member: 'Get',
  errorName: undefined,
  destination: 'org.freedesktop.login1',
  sender: undefined,
  signature: 'ss',
  body: ['org.freedesktop.login1.Manager', 'InhibitDelayMaxUSec'],
}
const failure: DbusMessage = {
  ...call,
  kind: 'error',
  serial: 8,
  replySerial: 7,
  path: undefined,
  interface: undefined,
  member: undefined,
  errorName: 'org.example.Broken',
  sender: ':1.2',
  signature: '',
  body: [],
}

describe('D-Bus messages', () => {
  test('what is encoded is decoded again', () => {
    for (const message of [call, failure]) assert.deepEqual(decodeMessage(encodeMessage(message)), message)
  })

  test('messages are cut out of whatever pieces arrive', () => {
    const bytes = Buffer.concat([encodeMessage(call), encodeMessage(failure), encodeMessage(call)])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1 }), (sizes) => {
        const splitter = new MessageSplitter()
        const found: unknown[] = []
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1
          found.push(...splitter.push(bytes.subarray(at, at + size)).map((each) => decodeMessage(each)))
          at += size
        }
        assert.deepEqual(found, [call, failure, call])
      }),
    )
  })

  test('a kind of a later protocol is passed over', () => {
    const bytes = Buffer.from(encodeMessage(call))
    bytes[1] = 9
    assert.equal(decodeMessage(bytes), undefined)
  })

  test('a message without end is refused before it is waited for', () => {
    const bytes = Buffer.from(encodeMessage(call))
    bytes.writeUInt32LE(2 ** 31, 4)
    assert.throws(() => new MessageSplitter().push(bytes), /Cannot read a message of \d+ bytes/)
  })

  test('what is no message is refused', () => {
    assert.throws(() => new MessageSplitter().push(Buffer.from('HTTP/1.1 200 OK\r\n')), /expected "l" or "B"/)
  })
})
