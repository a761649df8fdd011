import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../test/fakes/silent-logger.ts'
import { createAuditLog } from './audit.ts'

test('createAuditLog() tells the time of a request to the millisecond', () => {
  const lines: unknown[] = []
  const log = { ...silentLogger, info: (...line: readonly unknown[]) => void lines.push(line) }
  const entry = { caller: 'jane', from: '192.0.2.1', method: 'POST', path: '/exec/n/p/c', code: 200 }
  createAuditLog(log)({ ...entry, seconds: 1.2345678 })
  assert.deepEqual(lines, [['audit', { ...entry, seconds: 1.235 }]])
})
