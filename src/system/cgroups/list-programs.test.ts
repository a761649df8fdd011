import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { listPrograms } from './list-programs.ts'

test('the kernel’s own threads, the first process and what has just ended are no programs', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-proc-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const pid of ['1', '20', '30']) mkdirSync(join(folder, pid))
  for (const pid of ['1', '20']) symlinkSync('/bin/true', join(folder, pid, 'exe'))
  writeFileSync(join(folder, 'procs'), '1\n20\n30\n40\n')
  assert.deepEqual(listPrograms(join(folder, 'procs'), folder), [20])
})
