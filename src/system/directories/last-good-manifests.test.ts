import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
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
    const copies = createLastGoodManifests(folder, undefined, () =>
      Promise.reject(Object.assign(new Error(code), { code })),
    )
    if (passes) {
      await assert.rejects(copies.read('web.yaml'), { code })
      await assert.rejects(copies.readAll(), { code })
    } else assert.deepEqual([await copies.read('web.yaml'), await copies.readAll()], [undefined, [undefined]])
  })

test('createLastGoodManifests() sets a copy aside that cannot be read, and knows until it is made again that it was there', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'last-good-'))
  t.after(() => rm(folder, { recursive: true }))
  const reported: string[] = []
  const open = () =>
    createLastGoodManifests(folder, async (kind, path, work) => {
      reported.push(`${kind} ${path}`)
      return await work()
    })
  assert.equal(await open().read('web.yaml'), undefined)
  await open().write('web.yaml', Buffer.from('text'))
  const [copy = ''] = await readdir(folder)
  await rm(join(folder, copy))
  await mkdir(join(folder, copy))
  assert.equal(await open().read('web.yaml'), undefined)
  assert.deepEqual(reported, [`manifest ${join(folder, copy)}`], 'one that is not there is no trouble')
  await open().retain(['web.yaml'])
  assert.deepEqual(await readdir(folder), [`${copy}.broken`])
  assert.deepEqual(await open().readAll(), [undefined])
  await open().write('web.yaml', Buffer.from('again'))
  assert.deepEqual(
    (await open().readAll()).map((bytes) => Buffer.from(bytes ?? []).toString()),
    ['again'],
  )
  assert.equal(reported.length, 1)
})
