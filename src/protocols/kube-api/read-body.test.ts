import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { readLines } from './read-body.ts'

async function* inParts(text: string, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b)
  for (const [index, place] of places.entries()) yield bytes.subarray(place, places[index + 1] ?? bytes.length)
}

describe('readLines()', () => {
  test('finds the same lines wherever the text is cut, also within a letter', async () => {
    const lines = ['{"a":1}', '{"name":"größe ✓"}', '{}']
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(60)), async (cuts) => {
        const found = await Array.fromAsync(readLines(inParts(`${lines.join('\n')}\n\r\n\n`, cuts)))
        assert.deepEqual(found, lines)
      }),
    )
  })

  test('says when the last line is not whole', async () => {
    await assert.rejects(Array.fromAsync(readLines(inParts('{}\n{"a', []))), {
      name: 'KubeUnreachableError',
      message: 'Cannot read a watch: it ended within a line, after 3 bytes of it',
    })
  })
})
