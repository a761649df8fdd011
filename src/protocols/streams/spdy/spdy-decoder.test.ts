import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInflate } from 'node:zlib'
import * as fc from 'fast-check'
import { encodeSynReply } from './spdy-frames.ts'
import { SPDY_DICTIONARY } from './read-spdy-headers.ts'
import { encodeSpdyHeaders } from './encode-spdy-headers.ts'
import { SpdyDecoder, SpdyError } from './spdy-decoder.ts'
import {
  encodeDataHead,
  encodePing,
  encodeRstStream,
  encodeSynStream,
  encodeWindowUpdate,
  SPDY_FIN,
} from './spdy-frames.ts'

/** Frames as text, with the pieces of data on one stream that follow each other put together. */
function decodeAll(chunks: readonly Buffer[]): string[] {
  const decoder = new SpdyDecoder()
  const seen: string[] = []
  for (const event of chunks.flatMap((chunk) => decoder.decode(Buffer.from(chunk)))) {
    const control = event.kind === 'control'
    const text = (control ? event.content : event.bytes).toString('hex')
    const head = control ? `control ${event.type}/${event.flags}` : `data ${event.stream}`
    const last = seen.at(-1)
    if (!control && last?.startsWith(`${head} `) === true && !last.endsWith('fin')) seen.splice(-1, 1, last + text)
    else seen.push(`${head} ${text}`)
    if (!control && event.fin) seen.push('fin')
  }
  return seen.filter((line) => !/^data \d+ $/.test(line))
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  let at = 0
  const chunks = sizes.map((size) => bytes.subarray(at, (at += size)))
  return [...chunks, bytes.subarray(at)]
}

const data = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.uint8Array({ maxLength: 60 }), fc.constantFrom(0, SPDY_FIN))
  .map(([stream, bytes, flags]) => Buffer.concat([encodeDataHead(stream, bytes.length, flags), bytes]))
const control = fc
  .tuple(fc.nat(5), fc.integer({ min: 1, max: 99 }), fc.string())
  .map(([kind, number, text]) =>
    [
      encodeSynStream(number, { streamType: text }, false),
      encodeSynReply(number, true),
      encodeRstStream(number, 3),
      encodePing(number),
      encodeWindowUpdate(number, 1000),
    ].at(kind % 5),
  )
  .map((frame) => frame ?? Buffer.alloc(0))

describe('SpdyDecoder', () => {
  test('gives the same however its bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(data, control)), fc.array(fc.nat(20)), (frames, cuts) => {
        const whole = Buffer.concat(frames)
        assert.deepEqual(decodeAll(cut(whole, cuts)), decodeAll([whole]))
      }),
    )
  })

  test('reads what was encoded', () => {
    const bytes = Buffer.concat([
      encodeDataHead(5, 3, SPDY_FIN),
      Buffer.from('abc'),
      encodePing(2),
      encodeRstStream(7, 5),
    ])
    assert.deepEqual(decodeAll([bytes]), [
      'data 5 616263',
      'fin',
      'control 6/0 00000002',
      'control 3/0 0000000700000005',
    ])
  })

  for (const [about, hex] of [
    ['another version of SPDY', '8002000600000004'],
    ['a control frame that is too long', '8003000801ffffff'],
  ] as const)
    test(`refuses ${about}`, () => assert.throws(() => decodeAll([Buffer.from(hex, 'hex')]), SpdyError))

  test('never fails in another way, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
        try {
          decodeAll(chunks.map((chunk) => Buffer.from(chunk)))
        } catch (error) {
          assert.ok(error instanceof SpdyError)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('encodeSpdyHeaders()', () => {
  test('is read by zlib with the dictionary of SPDY, frame after frame', async () => {
    const inflate = createInflate({ dictionary: SPDY_DICTIONARY })
    const read = async (block: Buffer) => {
      await new Promise<void>((resolve, reject) => {
        inflate.write(block, (error) => (error ? reject(error) : resolve()))
      })
      return (inflate.read() as Buffer).toString('latin1')
    }
    const expected = (value: string) =>
      `\0\0\0\x01\0\0\0\x0astreamtype\0\0\0${String.fromCharCode(value.length)}${value}`
    assert.equal(await read(encodeSpdyHeaders({ streamType: 'error' }, true)), expected('error'))
    assert.equal(await read(encodeSpdyHeaders({ streamType: 'stdin' }, false)), expected('stdin'))
  })
})
