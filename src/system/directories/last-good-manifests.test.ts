import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLastGoodManifests } from './last-good-manifests.ts'

for (const [code, passes] of [
  ['EMFILE', true],
  ['EIO', false],
] as const)
  test(`createLastGoodManifests() ${passes ? 'fails' : 'does without a copy'} when one cannot be read (${code})`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'last-good-'))
    t.after(() => rm(folder, { recursive: true }))
    await createLastGoodManifests(folder).write('web.yaml', Buffer.from('text'))
    const copies = createLastGoodManifests(folder, () => Promise.reject(Object.assign(new Error(code), { code })))
    if (passes) {
      await assert.rejects(copies.read('web.yaml'), { code })
      await assert.rejects(copies.readAll(), { code })
    } else assert.deepEqual([await copies.read('web.yaml'), await copies.readAll()], [undefined, [undefined]])
  })
