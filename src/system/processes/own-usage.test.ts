import assert from 'node:assert/strict'
import { closeSync, openSync } from 'node:fs'
import { test } from 'node:test'
import { readOwnUsage } from './own-usage.ts'

test('readOwnUsage() reads what this process uses', () => {
  const before = readOwnUsage()
  assert.ok(before.virtualBytes > 10 * 1024 * 1024)
  assert.ok(before.maxFiles > before.openFiles)
  assert.ok(before.virtualMaxBytes >= before.virtualBytes)
  assert.ok(Number.isInteger(before.receivedBytes) && Number.isInteger(before.sentBytes))
  const file = openSync('/dev/null', 'r')
  assert.equal(readOwnUsage().openFiles, before.openFiles + 1)
  closeSync(file)
})
