import assert from 'node:assert/strict'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { truncateLog } from './truncate-log.ts'

test('truncateLog() keeps the last full log and lets the writer go on', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-test-'))
  t.after(() => rm(folder, { recursive: true }))
  const log = join(folder, 'log')
  assert.equal(await truncateLog(log, 10), false)
  await appendFile(log, '0123456789')
  assert.equal(await truncateLog(log, 10), false)
  await appendFile(log, 'A')
  assert.equal(await truncateLog(log, 10), true)
  await appendFile(log, 'B')
  assert.deepEqual([await readFile(`${log}.1`, 'utf8'), await readFile(log, 'utf8')], ['0123456789A', 'B'])
})
