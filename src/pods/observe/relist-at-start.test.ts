import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogFields } from '../../base/telemetry/logger.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { relistAtStart } from './relist-at-start.ts'

test('relistAtStart() goes on without the pods that the runtime cannot give', async () => {
  const warned: unknown[] = []
  const log = { ...silentLogger, warn: (_: string, fields?: LogFields) => void warned.push(fields?.['error']) }
  const error = new AggregateError([new Error('hung')])
  await relistAtStart({ relist: () => Promise.reject(error) }, log)
  assert.deepEqual(warned, [error])
})

test('relistAtStart() fails when the runtime has no list', async () => {
  await assert.rejects(relistAtStart({ relist: () => Promise.reject(new Error('gone')) }, silentLogger), /gone/)
})
