import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSizes } from './parse-sizes.ts'

async function* chunks(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text)
}

test('sizes of a terminal come cut anywhere, and what is none is left out', async () => {
  const source = chunks('{"Width":80,"Hei', 'ght":24}\n{"Width":1', '00,"Height":50}{"Width":-1,"Height":2}{x}')
  assert.deepEqual(await Array.fromAsync(parseSizes(source)), [
    { width: 80, height: 24 },
    { width: 100, height: 50 },
  ])
})
