import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findBuiltSource } from './find-built-source.ts'

test('findBuiltSource() finds the source of a line by the name above it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-built-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const built = join(folder, 'main.js')
  writeFileSync(built, 'import "x"\n// src/main.ts\nrun()\n// a remark\nrun()\n\n// src/pods/worker.ts\nwork()\n')
  assert.deepEqual(
    [1, 3, 5, 8].map((line) => findBuiltSource(built, line)),
    [undefined, 'src/main.ts', 'src/main.ts', 'src/pods/worker.ts'],
  )
  assert.equal(findBuiltSource(import.meta.filename, 1), undefined)
})
