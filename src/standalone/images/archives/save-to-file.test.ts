import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import type { ImageArchives } from './image-archives.ts'
import { saveToFile } from './save-to-file.ts'

const { signal } = new AbortController()

async function save(write: ImageArchives['save'], name = 'a.tar') {
  const folder = makeTemporaryFolder()
  const counts: number[] = []
  const request = { names: ['a'], file: join(folder, name), onProgress: (done: number) => void counts.push(done) }
  const failure = await saveToFile({ save: write }, request, signal).then(
    () => undefined,
    (error: Error) => error.message,
  )
  return { failure, counts, files: readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8')) }
}

describe('saveToFile()', () => {
  test('loses nothing that the runtime sends before the file is open', async () => {
    const { failure, counts, files } = await save(async (_names, archive) => {
      archive.write('first ')
      await new Promise((resolve) => archive.write('last', resolve))
    })
    assert.deepEqual([failure, counts, files], [undefined, [6, 10], ['first last']])
  })

  for (const [when, sent] of [
    ['before the file is open', ''],
    ['in the middle', 'half'],
  ] as const)
    test(`leaves no file when the runtime fails ${when}`, async () => {
      const { failure, files } = await save(async (_names, archive) => {
        if (sent !== '') await new Promise((resolve) => archive.write(sent, resolve))
        throw new Error('ctr ended with 1')
      })
      assert.deepEqual([failure, files], ['ctr ended with 1', []])
    })

  test('does not wait for a runtime whose archive has no file', { timeout: 10_000 }, async () => {
    const endless = new Readable({ read: (size) => void endless.push(Buffer.alloc(size)) })
    const { failure } = await save((_names, archive) => pipeline(endless, archive, { end: false }), 'nowhere/a.tar')
    assert.match(failure ?? '', /^ENOENT: no such file or directory, open /)
  })
})
