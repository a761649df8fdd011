import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readTaskLimit } from './read-task-limit.ts'

test('readTaskLimit() is the smaller of the kernel’s two limits, or none', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-proc-'))
  t.after(() => rmSync(folder, { recursive: true }))
  assert.equal(readTaskLimit(folder), undefined)
  mkdirSync(join(folder, 'sys/kernel'), { recursive: true })
  writeFileSync(join(folder, 'sys/kernel/pid_max'), '4194304\n')
  assert.equal(readTaskLimit(folder), 4_194_304)
  writeFileSync(join(folder, 'sys/kernel/threads-max'), '62000\n')
  assert.equal(readTaskLimit(folder), 62_000)
})
