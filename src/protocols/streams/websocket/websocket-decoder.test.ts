import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { encodeWebSocketHead, WEBSOCKET_OPCODES } from './websocket-connection.ts'
import { WebSocketDecoder, WebSocketError } from './websocket-decoder.ts'
import type { WebSocketEvent } from './websocket-decoder.ts'

/** Messages and control frames as text, with the pieces of each message put together. */
function describeEvents(events: readonly WebSocketEvent[]): string[] {
  const seen: string[] = []
  let message = ''
  for (const event of events) {
    const text = event.bytes.toString('hex')
    if (event.kind !== 'data') seen.push(`${event.kind} ${text}`)
    else {
      message = event.first ? text : message + text
      if (event.last) seen.push(`message ${message}`)
    }
  }
  return seen
}

function decodeAll(masked: boolean, chunks: readonly Buffer[]): string[] {
  const decoder = new WebSocketDecoder({ masked })
  return describeEvents(chunks.flatMap((chunk) => decoder.decode(Buffer.from(chunk))))
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  let at = 0
  const chunks = sizes.map((size) => bytes.subarray(at, (at += size)))
  return [...chunks, bytes.subarray(at)]
}

function encode(kind: keyof typeof WEBSOCKET_OPCODES, content: Uint8Array, mask: Uint8Array): Buffer {
  const masked = content.map((byte, at) => byte ^ (mask[at % 4] ?? 0))
  return Buffer.concat([encodeWebSocketHead(kind, content.length, mask), masked])
}

const kinds = fc.constantFrom(...(Object.keys(WEBSOCKET_OPCODES) as (keyof typeof WEBSOCKET_OPCODES)[]))
const frame = fc.tuple(kinds, fc.uint8Array({ maxLength: 125 }))
const names = { binary: 'message', ping: 'ping', pong: 'pong', close: 'close' }

describe('WebSocketDecoder', () => {
  for (const masked of [true, false]) {
    test(`reads what was encoded, however it is cut, ${masked ? 'with' : 'without'} masks`, () => {
      fc.assert(
        fc.property(
          fc.array(frame),
          fc.uint8Array({ minLength: 4, maxLength: 4 }),
          fc.array(fc.nat(30)),
          (frames, mask, cuts) => {
            const bytes = Buffer.concat(
              frames.map(([kind, content]) => encode(kind, content, masked ? mask : new Uint8Array())),
            )
            const expected = frames.map(([kind, content]) => `${names[kind]} ${Buffer.from(content).toString('hex')}`)
            assert.deepEqual(decodeAll(masked, cut(bytes, cuts)), expected)
          },
        ),
      )
    })
  }

  for (const length of [0, 1, 125, 126, 65_535, 65_536, 200_000]) {
    test(`reads a message of ${length} bytes`, () => {
      const content = Buffer.alloc(length, 'ab')
      const bytes = Buffer.concat([encodeWebSocketHead('binary', length), content])
      assert.deepEqual(decodeAll(false, cut(bytes, [1, 1, 7])), [`message ${content.toString('hex')}`])
    })
  }

  test('puts the parts of a message together, with a ping between them', () => {
    const bytes = Buffer.from('0201aa89000001bb8001cc', 'hex')
    assert.deepEqual(decodeAll(false, [bytes]), ['ping ', 'message aabbcc'])
  })

  const faults: readonly (readonly [about: string, hex: string, masked: boolean])[] = [
    ['a client that does not mask', '8201aa', true],
    ['a server that masks', '828100000000aa', false],
    ['a reserved bit', 'c201aa', false],
    ['an unknown opcode', '8301aa', false],
    ['an unknown control opcode', '8b00', false],
    ['a long ping', '897e0080', false],
    ['a ping in parts', '0900', false],
    ['a continuation of nothing', '8001aa', false],
    ['a message within a message', '0201aa8201bb', false],
    ['a length that is not possible', '827fffffffffffffffff', false],
  ]
  for (const [about, hex, masked] of faults) {
    test(`refuses ${about}`, () =>
      assert.throws(() => new WebSocketDecoder({ masked }).decode(Buffer.from(hex, 'hex')), WebSocketError))
  }

  test('never fails in another way, whatever comes', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(fc.uint8Array({ maxLength: 40 })), (masked, chunks) => {
        try {
          decodeAll(
            masked,
            chunks.map((chunk) => Buffer.from(chunk)),
          )
        } catch (error) {
          assert.ok(error instanceof WebSocketError)
        }
      }),
      { numRuns: 500 },
    )
  })
})
