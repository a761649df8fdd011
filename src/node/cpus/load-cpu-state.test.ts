import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { LogFields } from '../../base/telemetry/logger.ts'
import { loadCpuRecord } from './load-cpu-state.ts'

async function load(setAside: () => Promise<string>) {
  const lines: unknown[] = []
  const error = (_: string, fields: LogFields = {}) =>
    void lines.push({ ...fields, error: fields['error'] instanceof Error })
  const store = { path: '/k/cpus', read: async () => '{"policyName', write: async () => {}, setAside }
  const record = await loadCpuRecord({ store, log: { ...silentLogger, error } })
  return { record, lines }
}

describe('loadCpuRecord()', () => {
  test('says where a broken file was and where it is now', async () => {
    assert.deepEqual(await load(async () => '/k/cpus.broken-7'), {
      record: undefined,
      lines: [{ path: '/k/cpus', setAside: '/k/cpus.broken-7', error: true }],
    })
  })

  test('goes on when a broken file cannot be moved', async () => {
    assert.deepEqual(await load(() => Promise.reject(new Error('Cannot rename: read-only'))), {
      record: undefined,
      lines: [{ path: '/k/cpus', setAside: undefined, error: true }],
    })
  })
})
