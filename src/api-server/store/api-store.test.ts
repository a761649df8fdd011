import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { ApiObject } from './api-object.ts'
import { openApiStore } from './open-api-store.ts'
import type { ApiStore, StoreLimits } from './api-store.ts'
import { CompactedError, StoreFullError, StoreOpenError } from './store-errors.ts'

const clock = new FakeClock()
const START = clock.now()

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-store-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

async function open(t: TestContext, folder = folderFor(t), limits: Partial<StoreLimits> = {}): Promise<ApiStore> {
  const store = await openApiStore({ folder, sealedResources: ['secrets'], limits }, { clock, log: silentLogger })
  t.after(() => store[Symbol.dispose]())
  return store
}

function configMap(name: string, value = ''): ApiObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'a' }, spec: { value } }
}

function put(store: ApiStore, name: string, value = '', resource = 'configmaps'): Promise<ApiObject> {
  return store.write((transaction) => transaction.put({ resource, namespace: 'a', name }, configMap(name, value)))
}

function names(store: ApiStore, version?: number): string[] {
  return store.list({ resource: 'configmaps', version }).map(({ key, object }) => `${key.name}=${valueOf(object)}`)
}

function valueOf(object: ApiObject): string {
  return (object.spec as { value: string }).value
}

describe('ApiStore', () => {
  test('gives every change the next version, and keeps it over a restart', async (t) => {
    const folder = folderFor(t)
    const store = await open(t, folder)
    const made = await Promise.all([put(store, 'x', '1'), put(store, 'y', '1')])
    assert.deepEqual(
      made.map(({ metadata }) => Number(metadata.resourceVersion) - START),
      [1, 2],
    )
    await put(store, 'x', '2')
    store[Symbol.dispose]()
    const again = await open(t, folder)
    assert.equal(again.version, START + 3)
    assert.deepEqual(names(again), ['x=2', 'y=1'])
  })

  test('lists what was true at an earlier version', async (t) => {
    const store = await open(t)
    await put(store, 'x', '1')
    await put(store, 'y', '1')
    await put(store, 'x', '2')
    await store.write((transaction) => transaction.remove({ resource: 'configmaps', namespace: 'a', name: 'y' }))
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((version) => names(store, START + version)),
      [[], ['x=1'], ['x=1', 'y=1'], ['x=2', 'y=1'], ['x=2']],
    )
  })

  test('lists in parts, in order of namespace and name', async (t) => {
    const store = await open(t)
    for (const name of ['c', 'a', 'b']) await put(store, name)
    const first = store.list({ resource: 'configmaps', limit: 2 })
    assert.deepEqual(
      first.map(({ key }) => key.name),
      ['a', 'b'],
    )
    const rest = store.list({ resource: 'configmaps', limit: 2, after: { namespace: 'a', name: 'b' } })
    assert.deepEqual(
      rest.map(({ key }) => key.name),
      ['c'],
    )
  })

  test('undoes all changes of an operation that throws, and none of its neighbours', async (t) => {
    const store = await open(t)
    const results = await Promise.allSettled([
      put(store, 'x'),
      store.write((transaction) => {
        transaction.put({ resource: 'configmaps', namespace: 'a', name: 'half' }, configMap('half'))
        throw new Error('no')
      }),
      put(store, 'y'),
    ])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(names(store), ['x=', 'y='])
    assert.equal(store.version, START + 2)
    assert.equal(store.eventsAfter('configmaps', START, 10).length, 2)
  })

  for (const source of ['from memory', 'from the file']) {
    test(`reports changes with what was there before, ${source}`, async (t) => {
      const folder = folderFor(t)
      let store = await open(t, folder)
      await put(store, 'x', '1')
      await put(store, 'x', '2')
      await store.write((transaction) => transaction.remove({ resource: 'configmaps', namespace: 'a', name: 'x' }))
      if (source === 'from the file') {
        store[Symbol.dispose]()
        store = await open(t, folder)
      }
      assert.deepEqual(
        store
          .eventsAfter('configmaps', START, 10)
          .map(({ type, version, object, previous, text }) => [
            type,
            version - START,
            valueOf(object),
            previous && valueOf(previous),
            object.metadata.resourceVersion === String(version),
            text === JSON.stringify(object),
          ]),
        [
          ['ADDED', 1, '1', undefined, true, true],
          ['MODIFIED', 2, '2', '1', true, true],
          ['DELETED', 3, '2', '2', true, true],
        ],
      )
    })
  }

  test('wakes those who watch the resource, after the change is there', async (t) => {
    const store = await open(t)
    const woken: string[] = []
    const end = store.onChange('configmaps', () => woken.push(names(store).join(' ')))
    store.onChange('pods', () => woken.push('pods'))
    await put(store, 'x')
    end()
    await put(store, 'y')
    assert.deepEqual(woken, ['x='])
  })

  test('forgets the oldest history beyond its limits and says so; the file stays small', async (t) => {
    const folder = folderFor(t)
    const store = await open(t, folder, { historyVersions: 100 })
    for (let round = 0; round < 30; round++) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => put(store, `x${index % 5}`, 'x'.repeat(10_000))))
    }
    assert.throws(() => store.eventsAfter('configmaps', START, 10), CompactedError)
    assert.throws(() => store.list({ resource: 'configmaps', version: START + 1 }), CompactedError)
    const kept = store.eventsAfter('configmaps', store.compactedVersion, 10_000)
    assert.equal(kept.length, store.version - store.compactedVersion)
    assert.ok(kept.length >= 50 && kept.length <= 200, `${kept.length} kept`)
    assert.equal(names(store).length, 5)
    store[Symbol.dispose]()
    const bytes = statSync(join(folder, 'objects.db')).size
    assert.ok(bytes < 6_000_000, `${bytes} bytes`)
  })

  test('refuses to grow beyond its limit, but still deletes', async (t) => {
    const store = await open(t, folderFor(t), { maxBytes: 200_000 })
    await assert.rejects(async () => {
      for (let index = 0; index < 100; index++) await put(store, `x${index}`, 'x'.repeat(10_000))
    }, StoreFullError)
    await store.write((transaction) => transaction.remove({ resource: 'configmaps', namespace: 'a', name: 'x0' }))
  })

  test('leaves out what does not contain a word, but never what is sealed, or is listed as it was', async (t) => {
    const store = await open(t)
    for (const [name, value] of Object.entries({ a: 'node-1', b: 'node-2', c: 'node-1' })) await put(store, name, value)
    await put(store, 's', 'x', 'secrets')
    const { version } = store
    const list = (resource: string, page = {}) =>
      store.list({ resource, containing: 'node-1', ...page }).map(({ key }) => key.name)
    assert.deepEqual(list('configmaps'), ['a', 'c'])
    assert.deepEqual(list('configmaps', { namespace: 'a', limit: 1 }), ['a'])
    assert.deepEqual(list('configmaps', { namespace: 'a', after: { namespace: 'a', name: 'a' } }), ['c'])
    assert.deepEqual(list('secrets'), ['s'])
    await put(store, 'a', 'node-2')
    assert.deepEqual(list('configmaps'), ['c'])
    assert.deepEqual(list('configmaps', { version }), ['a', 'b', 'c'])
  })

  test('finds the changes of what has or had a word, also when they are read from the file', async (t) => {
    const folder = folderFor(t)
    const store = await open(t, folder)
    const { version } = store
    await put(store, 'a', 'node-1')
    await put(store, 'b', 'node-2')
    await put(store, 'a', 'node-2')
    await put(store, 'a', 'node-3')
    await put(store, 's', 'x', 'secrets')
    await store.write((transaction) => transaction.remove({ resource: 'configmaps', namespace: 'a', name: 'b' }))
    store[Symbol.dispose]()
    const again = await open(t, folder)
    const changes = (word: string, resource = 'configmaps') =>
      again.eventsAfter(resource, version, 10, word).map(({ type, key }) => `${type} ${key.name}`)
    assert.deepEqual(changes('node-1'), ['ADDED a', 'MODIFIED a'])
    assert.deepEqual(changes('node-2'), ['ADDED b', 'MODIFIED a', 'MODIFIED a', 'DELETED b'])
    assert.deepEqual(changes('node-1', 'secrets'), ['ADDED s'])
  })

  test('seals what is secret: neither file shows it', async (t) => {
    const folder = folderFor(t)
    const store = await open(t, folder)
    await put(store, 'x', 'open-value')
    await put(store, 's', 'hidden-value', 'secrets')
    const all = () =>
      Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name)))).toString('latin1')
    assert.match(all(), /open-value/)
    assert.doesNotMatch(all(), /hidden-value/)
    assert.equal(valueOf(store.list({ resource: 'secrets' })[0]?.object ?? configMap('')), 'hidden-value')
    store[Symbol.dispose]()
    assert.doesNotMatch(all(), /hidden-value/)
    const again = await open(t, folder)
    assert.equal(valueOf(again.list({ resource: 'secrets' })[0]?.object ?? configMap('')), 'hidden-value')
  })

  test('has no file that others may read, also where an earlier version made one', async (t) => {
    const folder = folderFor(t)
    const store = await open(t, folder)
    await put(store, 'x')
    await store.backUp()
    const modes = () =>
      Object.fromEntries(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]))
    const expected = { 'objects.db': 0o600, 'objects.db-wal': 0o600, 'objects.db.backup': 0o600, 'secrets.key': 0o600 }
    assert.deepEqual(modes(), expected)
    store[Symbol.dispose]()
    for (const name of ['objects.db', 'objects.db.backup']) chmodSync(join(folder, name), 0o644)
    const again = await open(t, folder)
    await put(again, 'y')
    assert.deepEqual(modes(), expected)
  })

  test('says which key is missing when the secrets were sealed with another', async (t) => {
    const folder = folderFor(t)
    const store = await open(t, folder)
    await put(store, 's', 'x', 'secrets')
    store[Symbol.dispose]()
    writeFileSync(join(folder, 'secrets.key'), Buffer.alloc(32, 1), { mode: 0o600 })
    await assert.rejects(open(t, folder), /sealed with another key than/)
  })

  test('makes no new key when the one that secrets were sealed with is gone', async (t) => {
    const folder = folderFor(t)
    const store = await open(t, folder)
    await put(store, 's', 'x', 'secrets')
    store[Symbol.dispose]()
    const key = readFileSync(join(folder, 'secrets.key'))
    rmSync(join(folder, 'secrets.key'))
    await assert.rejects(open(t, folder), StoreOpenError)
    assert.equal(readdirSync(folder).includes('secrets.key'), false)
    writeFileSync(join(folder, 'secrets.key'), key, { mode: 0o600 })
    assert.equal((await open(t, folder)).list({ resource: 'secrets' }).length, 1)
  })

  test('goes back to a copy of itself, after which every client lists again', async (t) => {
    const folder = folderFor(t)
    const store = await open(t, folder)
    await put(store, 'x', 'kept')
    const copying = store.backUp()
    // Others write meanwhile.
    await put(store, 'y', 'later')
    await copying
    await put(store, 'x', 'lost')
    const { version } = store
    store[Symbol.dispose]()
    const path = join(folder, 'objects.db')
    writeFileSync(path, 'broken')
    await clock.advance(1000)
    const message = `mv ${path}.backup ${path}. To begin with an empty API`
    for (let tries = 0; tries < 2; tries += 1) {
      await assert.rejects(open(t, folder), (error: Error) => error.message.includes(message))
    }
    renameSync(`${path}.backup`, path)
    const restored = await open(t, folder)
    assert.equal(names(restored)[0], 'x=kept')
    assert.ok(restored.version > version)
    assert.throws(() => restored.eventsAfter('configmaps', version, 1), CompactedError)
    const { version: before } = restored
    restored[Symbol.dispose]()
    assert.equal((await open(t, folder)).version, before)
  })

  test('fails for a second process, since the file is in use', async (t) => {
    const folder = folderFor(t)
    await open(t, folder)
    await assert.rejects(open(t, folder), /another process uses it/)
  })

  const damages: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
    ['is no database', () => Buffer.from('this is not a database, but long enough to look at'.repeat(50))],
    [
      'has pages of noise',
      (bytes) => Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0xa5)]),
    ],
    ['was cut off', (bytes) => bytes.subarray(0, bytes.length - 4096 * 2)],
  ]
  for (const [name, damage] of damages) {
    test(`sets a file aside that ${name}, and versions still grow`, async (t) => {
      const folder = folderFor(t)
      const store = await open(t, folder)
      for (let index = 0; index < 50; index++) await put(store, `x${index}`, 'x'.repeat(1000))
      store[Symbol.dispose]()
      const path = join(folder, 'objects.db')
      writeFileSync(path, damage(readFileSync(path)))
      await clock.advance(1000)
      await assert.rejects(open(t, folder), StoreOpenError)
      await assert.rejects(open(t, folder), /There is no copy of it. To begin with an empty API, .*: rm /)
      rmSync(`${path}.lost`)
      const again = await open(t, folder)
      assert.deepEqual(names(again), [])
      assert.ok(again.version > START + 50)
      assert.equal(readdirSync(folder).filter((file) => file.startsWith('objects.db.corrupt-')).length, 1)
    })
  }
})
