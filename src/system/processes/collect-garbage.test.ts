import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { collectGarbage } from './collect-garbage.ts'

test('collectGarbage() frees what is no longer referenced', async () => {
  const weak = new WeakRef({ large: 'x'.repeat(1000) })
  await setImmediate()
  collectGarbage()
  assert.equal(weak.deref(), undefined)
})
