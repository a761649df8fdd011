import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Api } from '../../../src/api-server/rest/create-api.ts'
import { KubeConfig } from '@kubernetes/client-node'
import { call } from './api-client.ts'
import { createTestApi } from './create-test-api.ts'
import type { TestApi } from './create-test-api.ts'
import { followConfigMaps } from './official-informer.ts'
import { Reflector } from './reflector.ts'

const CHANGES = 100_000
const RESTARTS = 4
const NAMES = 700
const AT_ONCE = 100
const PATH = '/api/v1/namespaces/default/configmaps'

/** Creates, changes or deletes one of the names, whichever fits. */
async function change(api: Api, present: Set<string>, name: string, count: number): Promise<void> {
  const body = { metadata: { name }, data: { count: String(count) } }
  if (!present.has(name)) {
    present.add(name)
    assert.equal((await call(api, 'POST', PATH, { body })).status, 201)
  } else if (count % 11 === 0) {
    present.delete(name)
    assert.equal((await call(api, 'DELETE', `${PATH}/${name}`)).status, 200)
  } else assert.equal((await call(api, 'PUT', `${PATH}/${name}`, { body })).status, 200)
}

async function changeMany(api: Api, present: Set<string>, from: number, count: number): Promise<void> {
  for (let start = from; start < from + count; start += AT_ONCE) {
    const names = Array.from({ length: AT_ONCE }, (_, index) => `c${(start * 7 + index) % NAMES}`)
    await Promise.all(names.map((name, index) => change(api, present, name, start + index)))
  }
}

/** The official client, over HTTP, as others use it. */
function followOfficially(url: string) {
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'c', server: url, skipTLSVerify: true }, { name: 'u' })
  return followConfigMaps(config, 'default')
}

function versionsOf(items: readonly { metadata?: { name?: string; resourceVersion?: string } }[]): string {
  return items
    .map(({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`)
    .toSorted()
    .join()
}

async function expectSame(test: TestApi, reflector: Reflector): Promise<void> {
  const { body } = await call(test.api, 'GET', PATH)
  const there = new Map(
    (body.items as { metadata: { name: string; namespace: string } }[]).map((item) => [
      `${item.metadata.namespace}/${item.metadata.name}`,
      item,
    ]),
  )
  assert.deepEqual([...reflector.cache.keys()].sort(), [...there.keys()].sort())
  for (const [key, item] of there) assert.deepEqual(reflector.cache.get(key), item)
}

describe('reflectors, and the official JavaScript client', () => {
  test(`stay consistent through ${CHANGES} changes and ${RESTARTS} restarts of the server`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-reflector-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const present = new Set<string>()
    // One keeps up all the time; the other sleeps through most of it, so that its history is gone when it wakes.
    const [steady, sleepy] = [new Reflector(PATH), new Reflector(PATH)]
    const part = CHANGES / (RESTARTS + 1)
    let official: ReturnType<typeof followConfigMaps> | undefined
    let port = 0
    t.after(() => official?.stop())
    for (let run = 0; run <= RESTARTS; run++) {
      await using server = await createTestApi({ folder, port, limits: { historyVersions: 3000 } })
      port = Number(new URL(server.url).port)
      if (official === undefined) {
        official = followOfficially(server.url)
        await official.informer.start()
      }
      const end = new AbortController()
      const following = steady.follow(server.api, end.signal)
      await changeMany(server.api, present, run * part, part * 0.9)
      const late = sleepy.follow(server.api, end.signal)
      await changeMany(server.api, present, run * part + part * 0.9, part * 0.1)
      while (steady.version < server.store.version || sleepy.version < server.store.version) {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      end.abort()
      await Promise.all([following, late])
      const { body } = await call(server.api, 'GET', PATH)
      while (versionsOf(official.informer.list()) !== versionsOf(body.items)) {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      await expectSame(server, steady)
      await expectSame(server, sleepy)
    }
    t.diagnostic(JSON.stringify({ steady: steady.counts, sleepy: sleepy.counts }))
    assert.ok((official?.lost.length ?? 0) > 0, 'the official client never lost its server')
    assert.ok(steady.counts.events > CHANGES * 0.5, 'the steady one saw too little')
    assert.ok(steady.counts.bookmarks > 0, 'no watch said at its end how far it came')
    assert.ok(sleepy.counts.expired > 0, 'the sleepy one never lost its history')
  })
})
