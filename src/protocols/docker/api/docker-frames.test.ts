import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { DockerFrames } from './docker-frames.ts'

function frame(type: number, text: string): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt8(type)
  head.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([head, Buffer.from(text)])
}

function read(chunks: readonly Buffer[]): Record<string, string> {
  const frames = new DockerFrames()
  const outputs: Record<string, string> = { stdout: '', stderr: '' }
  for (const { stream, bytes } of chunks.flatMap((chunk) => [...frames.push(chunk)]))
    outputs[stream] += bytes.toString('latin1')
  return outputs
}

describe('DockerFrames', () => {
  test('takes both outputs apart, wherever their bytes are cut', () => {
    const outputs = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.string({ unit: 'binary-ascii', maxLength: 40 })))
    fc.assert(
      fc.property(outputs, fc.array(fc.nat(12)), (parts, cuts) => {
        const whole = Buffer.concat(parts.map(([type, text]) => frame(type, text)))
        let at = 0
        const chunks = [...cuts.map((size) => whole.subarray(at, (at += size))), whole.subarray(at)]
        const expected = (type: number) => parts.flatMap(([one, text]) => (one === type ? [text] : [])).join('')
        assert.deepEqual(read(chunks), { stdout: expected(1), stderr: expected(2) })
      }),
    )
  })

  test('fails with what Docker reports in between', () => {
    assert.throws(() => read([frame(1, 'a'), frame(3, 'no space left')]), /Docker failed: no space left/)
  })
})
