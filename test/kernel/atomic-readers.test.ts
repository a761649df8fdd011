import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../src/base/async/clock.ts'
import { createAtomicWriter } from '../../src/system/files/payload/atomic-writer.ts'

const UPDATES = 1000

test(`a reader sees the old or the new version, never a mixture, during ${UPDATES} updates`, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'deckhand-readers-'))
  t.after(() => rm(directory, { recursive: true }))
  const writer = createAtomicWriter({ clock: systemClock, random: Math.random })
  const write = (version: number) => {
    const file = { content: Buffer.from(`${version}`.repeat(2000)), mode: 0o644 }
    const payload = new Map(['a', 'd/b', `n${version}`].map((path) => [path, file]))
    return writer.write({ directory, payload, group: undefined })
  }
  await write(0)
  const reader = spawn(process.execPath, [fileURLToPath(import.meta.resolve('./version-reader.ts')), directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // Not its exit: what it said last may come after that.
  const closed = once(reader, 'close')
  let said = ''
  reader.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  await once(reader.stdout, 'data')
  for (let version = 1; version <= UPDATES; version += 1) await write(version)
  reader.stdin.end()
  await closed
  const { reads = 0, versions = 0, mixed } = JSON.parse(said.split('\n')[1] ?? '') as Record<string, number>
  assert.equal(mixed, 0)
  assert.ok(versions > 10 && reads > 10, said)
})
