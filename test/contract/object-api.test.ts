import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { ObjectError } from '../../src/pods/objects/object-api.ts'
import type { ObjectApi, NamespacedName, ReferencedKind, ReferencedKinds } from '../../src/pods/objects/object-api.ts'
import { FakeObjectApi } from '../fakes/fake-object-api.ts'
import { FakeClock } from '../fakes/fake-clock.ts'
import { createObjectFolder } from '../e2e/support/object-folder.ts'

/** An API together with the hand that changes what it has. */
interface Setting {
  readonly api: ObjectApi
  readonly now: () => number
  readonly put: <K extends ReferencedKind>(kind: K, object: ReferencedKinds[K]) => Promise<void>
  readonly remove: (kind: ReferencedKind, key: NamespacedName) => Promise<void>
  readonly goDown: () => Promise<void>
}

async function inMemory(): Promise<Setting> {
  const clock = new FakeClock()
  const api = new FakeObjectApi(clock)
  return {
    api,
    now: () => clock.now(),
    put: async (kind, object) => api.put(kind, object),
    remove: async (kind, key) => api.remove(kind, key),
    async goDown() {
      api.failure = new ObjectError('Unavailable', 'the API server is away')
      api.breakWatches(api.failure)
    },
  }
}

async function inFolder(t: TestContext): Promise<Setting> {
  const folder = await mkdtemp(join(tmpdir(), 'object-folder-'))
  t.after(() => rm(folder, { recursive: true }))
  const clock = new FakeClock()
  const path = (kind: string, name = '') => join(folder, `${kind}-${name}.json`)
  const write = async (file: string, text: string) => {
    await writeFile(`${file}.new`, text)
    await rename(`${file}.new`, file)
  }
  return {
    api: createObjectFolder(folder, { now: () => clock.now() }),
    now: () => clock.now(),
    put: (kind, object) => write(path(kind, object.metadata?.name), JSON.stringify({ kind, ...object })),
    remove: (kind, { name }) => rm(path(kind, name)),
    goDown: () => write(join(folder, '.down'), ''),
  }
}

const key = { namespace: 'shop', name: 'web' }
const configMap = (value: string) => ({ metadata: key, data: { value } })
const never = new AbortController().signal

/** Collects the events of a watch; next() waits for one more. */
function follow(api: ObjectApi, signal: AbortSignal) {
  const reported: (string | undefined)[] = []
  let ring = Promise.withResolvers<void>()
  const end = api.watch(
    'ConfigMap',
    key,
    (object) => {
      reported.push(object?.data?.['value'])
      ring.resolve()
    },
    signal,
  )
  end.catch(() => {})
  return {
    end,
    async next(count: number) {
      while (reported.length < count) {
        ring = Promise.withResolvers()
        await ring.promise
      }
      return reported
    },
  }
}

for (const [name, create] of [
  ['the API in memory', inMemory],
  ['the API over a folder', inFolder],
] as const) {
  describe(name, () => {
    test('gives an object that is there', async (t) => {
      const { api, put } = await create(t)
      await put('ConfigMap', configMap('1'))
      await put('PersistentVolume', { metadata: { name: 'pv-1' }, spec: { volumeMode: 'Block' } })
      assert.deepEqual((await api.get('ConfigMap', key, { cached: true }, never)).data, { value: '1' })
      const volume = await api.get('PersistentVolume', { namespace: '', name: 'pv-1' }, { cached: false }, never)
      assert.deepEqual(volume.spec, { volumeMode: 'Block' })
    })

    test('says NotFound for another kind, name or namespace, in the plural', async (t) => {
      const { api, put } = await create(t)
      await put('ConfigMap', configMap('1'))
      const notFound = { name: 'ObjectError', reason: 'NotFound' }
      await assert.rejects(api.get('Secret', key, { cached: false }, never), {
        ...notFound,
        message: 'secrets "web" not found',
      })
      await assert.rejects(api.get('ConfigMap', { ...key, name: 'x' }, { cached: false }, never), notFound)
      await assert.rejects(api.get('ConfigMap', { ...key, namespace: 'x' }, { cached: false }, never), notFound)
    })

    test('a watch reports what is there first, then each change, then the end', async (t) => {
      const { api, put, remove } = await create(t)
      const abort = new AbortController()
      const watch = follow(api, abort.signal)
      assert.deepEqual(await watch.next(1), [undefined])
      await put('ConfigMap', configMap('1'))
      assert.deepEqual(await watch.next(2), [undefined, '1'])
      await put('ConfigMap', configMap('2'))
      await watch.next(3)
      await remove('ConfigMap', key)
      assert.deepEqual(await watch.next(4), [undefined, '1', '2', undefined])
      abort.abort(new Error('enough'))
      await assert.rejects(watch.end, /enough/)
    })

    test('fails as a whole when it is down, and its watches end', async (t) => {
      const { api, put, goDown } = await create(t)
      await put('ConfigMap', configMap('1'))
      const watch = follow(api, never)
      await watch.next(1)
      await goDown()
      const down = { name: 'ObjectError', reason: 'Unavailable', message: 'the API server is away' }
      await assert.rejects(watch.end, down)
      await assert.rejects(api.get('ConfigMap', key, { cached: false }, never), down)
      const spec = { audiences: [], expirationSeconds: 600, boundObject: undefined }
      await assert.rejects(api.createToken(key, spec, never), down)
    })

    test('makes a new token each time, with the life that was asked for', async (t) => {
      const { api, now } = await create(t)
      const spec = { audiences: ['a'], expirationSeconds: 600, boundObject: undefined }
      const first = await api.createToken(key, spec, never)
      const second = await api.createToken(key, spec, never)
      assert.notEqual(first.token, second.token)
      assert.deepEqual([first.expiresAt - now(), first.lifeSeconds], [600_000, 600])
    })
  })
}
