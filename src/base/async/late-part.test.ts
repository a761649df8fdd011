import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LatePart } from './late-part.ts'

test('LatePart makes its part once, when it is first needed', async () => {
  let made = 0
  const part = new LatePart(async () => ({ number: (made += 1) }))
  assert.equal(part.value, undefined)
  const [first, second] = await Promise.all([part.open(), part.open()])
  assert.equal(first, second)
  assert.equal(part.value, first)
  assert.equal(await part.open(), first)
  assert.equal(made, 1)
})

test('LatePart tries again for the next caller when making its part fails', async () => {
  let tries = 0
  const part = new LatePart(async () => {
    tries += 1
    if (tries === 1) throw new Error('not yet')
    return tries
  })
  await assert.rejects(Promise.all([part.open(), part.open()]), /not yet/)
  assert.equal(part.value, undefined)
  assert.equal(await part.open(), 2)
})
