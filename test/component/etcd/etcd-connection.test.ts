import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { EtcdConnection } from '../../../src/protocols/etcd/etcd-connection.ts'
import { base64, EtcdServer } from '../../fakes/etcd-server.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'

// A real etcd sends at most the changes of a thousand revisions at once.
const REVISIONS = 1100
const RANGE = { from: '/a', to: '/b' }

test('a watch of the past never says that it knows more than it has sent', async () => {
  await using etcd = await EtcdServer.start({ folder: join(makeTemporaryFolder(), 'data') })
  const put = (index: number) => etcd.call('kv/put', { key: base64(`/a/${index}`), value: base64('x') })
  for (let at = 0; at < REVISIONS; at += 100)
    await Promise.all(Array.from({ length: 100 }, (_, index) => put(at + index)))
  using connection = new EtcdConnection({ server: etcd.url, tls: undefined, user: undefined, clock: systemClock })
  const signal = AbortSignal.timeout(20_000)
  const { revision, knownTo, changes } = await connection.list(RANGE, signal)
  assert.deepEqual([knownTo, changes.length], [revision, REVISIONS])

  const first = revision - BigInt(REVISIONS) + 1n
  const seen: { readonly store: bigint; readonly knownTo: bigint; readonly sent: number }[] = []
  let sent = 0
  for await (const news of connection.watch(RANGE, first, signal)) {
    sent += news.changes.length
    seen.push({ store: news.revision, knownTo: news.knownTo, sent })
    if (sent === REVISIONS) break
  }
  // Of the new watch itself, and of each part of the past.
  assert.ok(seen.length >= 3, `${seen.length} replies`)
  for (const { store, knownTo: known, sent: count } of seen) {
    assert.equal(store, revision)
    assert.equal(known, first - 1n + BigInt(count))
  }
})
