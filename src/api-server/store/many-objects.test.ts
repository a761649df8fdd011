import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { collectGarbage } from '../../system/processes/collect-garbage.ts'
import type { ApiObject } from './api-object.ts'
import type { ApiStore } from './api-store.ts'
import { openApiStore } from './open-api-store.ts'
import { openDatabase } from './open-database.ts'
import { prepareStatements } from './statements.ts'

const OBJECTS = 10_000
const PAGE = 500
const resource = 'configmaps'

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-many-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

const nameOf = (index: number) => `m-${String(index).padStart(5, '0')}`
const keyOf = (index: number) => ({ resource, namespace: 'a', name: nameOf(index) })

function object(index: number, owner: string): ApiObject {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: owner }]
  const metadata = { name: nameOf(index), namespace: 'a', ownerReferences }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, spec: 'x'.repeat(1000) }
}

/** Runs a write for each, many at once, so that they share transactions. */
async function forAll(store: ApiStore, work: (index: number) => Parameters<ApiStore['write']>[0]): Promise<void> {
  await Promise.all(Array.from({ length: OBJECTS }, (_, index) => store.write(work(index))))
}

describe(`a store of ${OBJECTS} objects`, () => {
  test('is read in pages that do not change, gives its space back, and holds none of it in memory', async (t) => {
    const folder = folderFor(t)
    const deps = { clock: new FakeClock(), log: silentLogger }
    const limits = { historyVersions: 1000 }
    const store = await openApiStore({ folder, sealedResources: [], limits }, deps)
    t.after(() => store[Symbol.dispose]())
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    await forAll(store, (index) => (transaction) => transaction.put(keyOf(index), object(index, `u${index % 100}`)))
    collectGarbage()
    assert.ok(process.memoryUsage().heapUsed - before < 16 * 1024 * 1024, 'the heap has grown with the objects')

    const { version } = store
    const seen: string[] = []
    for (let after: string | undefined = ''; after !== undefined;) {
      const last = { namespace: 'a', name: after }
      const page: readonly { key: { name: string } }[] = store.list({ resource, version, after: last, limit: PAGE })
      seen.push(...page.map(({ key }) => key.name))
      after = page.at(-1)?.key.name
      // Each page begins in a store that others have changed.
      await store.write((transaction) => transaction.remove(keyOf(seen.length - 1)))
      await store.write((transaction) => transaction.put(keyOf(20_000 + seen.length), object(1, 'u0')))
    }
    assert.deepEqual(
      seen,
      Array.from({ length: OBJECTS }, (_, index) => nameOf(index)),
    )

    const path = join(folder, 'objects.db')
    await forAll(store, (index) => (transaction) => void transaction.remove(keyOf(index)))
    const last = store.version
    store[Symbol.dispose]()
    // A thousand versions, each with the mark that it is gone, are all that is left; what is free was given back.
    assert.ok(statSync(path).size < 4 * 1024 * 1024, `the file has ${statSync(path).size} bytes`)
    const again = await openApiStore({ folder, sealedResources: [], limits }, deps)
    t.after(() => again[Symbol.dispose]())
    assert.ok(last - again.compactedVersion <= 1100, `${last - again.compactedVersion} versions are kept`)
  })

  test('counts what is replaced, not what replaces it', async (t) => {
    const folder = folderFor(t)
    const limits = { historyBytes: 1024 * 1024 }
    const store = await openApiStore(
      { folder, sealedResources: [], limits },
      { clock: new FakeClock(), log: silentLogger },
    )
    t.after(() => store[Symbol.dispose]())
    for (let index = 0; index < 60; index++) {
      const spec = 'x'.repeat(index % 2 === 0 ? 200_000 : 1)
      await store.write((transaction) => transaction.put(keyOf(0), { ...object(0, 'u'), spec }))
    }
    store[Symbol.dispose]()
    const size = statSync(join(folder, 'objects.db')).size
    assert.ok(size < 3 * 1024 * 1024, `the file has ${size} bytes`)
  })

  test('is never searched from one end to the other', (t) => {
    const path = join(folderFor(t), 'objects.db')
    const database = openDatabase(path)
    t.after(() => database.close())
    const plans = new Map<string, string>()
    const explained = new Proxy(database, {
      get: (target, name) => {
        if (name !== 'prepare') return Reflect.get(target, name) as unknown
        return (sql: string) => {
          const rows = target.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
          plans.set(sql, rows.map(({ detail }) => detail).join('\n'))
          return DatabaseSync.prototype.prepare.call(target, sql)
        }
      },
    })
    prepareStatements(explained)
    assert.ok(plans.size > 10)
    const scanning = [...plans].filter(([, plan]) =>
      /SCAN versions(?! USING (?:COVERING )?INDEX (?:owned_by_several|replaced))/.test(plan),
    )
    assert.deepEqual(scanning, [])
  })
})
