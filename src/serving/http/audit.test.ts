import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { createAuditLog, findProgram } from './audit.ts'

test('createAuditLog() logs the time of a request to the millisecond', () => {
  const lines: unknown[] = []
  const log = { ...silentLogger, info: (...line: readonly unknown[]) => void lines.push(line) }
  const entry = {
    caller: 'jane',
    from: '192.0.2.1',
    method: 'POST',
    path: '/exec/n/p/c',
    program: 'sh',
    code: 101,
    end: 'finished',
  }
  createAuditLog(log)({ ...entry, seconds: 1.2345678 })
  assert.deepEqual(lines, [['audit', { ...entry, seconds: 1.235 }]])
})

test('findProgram() gives the program of a command, and none of its arguments', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['command=sh&command=-c&command=login%20--token%20abc', 'sh'],
    ['command=%2Fusr%2Fbin%2Fpsql&command=postgres%3A%2F%2Fme%3Asecret%40db', 'psql'],
    ['cmd=ls%20-l%20secret', 'ls'],
    ['command=curl%20http%3A%2F%2Fx%2Fsecret', undefined],
    ['command=TOKEN%3Dabc%20sh', undefined],
    [`command=${'a'.repeat(65)}`, undefined],
    ['command=', undefined],
    ['', undefined],
  ]
  assert.deepEqual(
    rows.map(([query]) => [query, findProgram(new URLSearchParams(query))]),
    rows,
  )
})
