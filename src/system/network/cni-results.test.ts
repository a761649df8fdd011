import assert from 'node:assert/strict'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { until } from '../../../test/fakes/until.ts'
import { CniResults, parseCniResult } from './cni-results.ts'

/** As libcni writes it, without what is not needed. */
const note = (uid: string, ...addresses: readonly string[]) =>
  JSON.stringify({
    kind: 'cniCacheV1',
    containerId: 'c',
    cniArgs: [
      ['IgnoreUnknown', '1'],
      ['K8S_POD_NAME', 'web'],
      ['K8S_POD_UID', uid],
    ],
    result: { cniVersion: '1.0.0', ips: addresses.map((address) => ({ address, gateway: '10.1.0.1' })) },
  })

function follow(t: TestContext, folder: string) {
  const results = new CniResults('deckhand', folder)
  const stop = new AbortController()
  let changes = 0
  const ended = results.follow(() => void (changes += 1), stop.signal).catch(() => {})
  t.after(async () => {
    stop.abort(new Error('over'))
    await ended
  })
  return { results, changes: () => changes }
}

test('a note says which pod got which addresses', () => {
  assert.deepEqual(parseCniResult(note('u', '10.1.0.2/16', 'fd00::2/64'), 5), {
    podUid: 'u',
    addresses: ['10.1.0.2', 'fd00::2'],
    writtenAt: 5,
  })
  for (const text of ['', '{', '{}', '{"cniArgs":[],"result":{}}', '{"cniArgs":[["K8S_POD_UID","u"]],"result":{}}'])
    assert.equal(parseCniResult(text, 0), undefined, text)
})

test('addresses are known as soon as they are noted, those of other networks are not', async (t) => {
  const folder = makeTemporaryFolder()
  const path = (name: string) => join(folder, name)
  writeFileSync(path('deckhand-1-eth0'), note('first', '10.1.0.2/16'))
  writeFileSync(path('other-1-eth0'), note('other', '10.1.0.9/16'))
  const { results, changes } = follow(t, folder)
  await until(() => results.addresses.size === 1)
  assert.deepEqual([...results.addresses], [['first', ['10.1.0.2']]])
  const before = changes()
  writeFileSync(path('deckhand-2-eth0'), note('second', '10.1.0.3/16', 'fd00::3/64'))
  await until(() => results.addresses.has('second'))
  assert.ok(changes() > before)
  assert.deepEqual(results.addresses.get('second'), ['10.1.0.3', 'fd00::3'])
  rmSync(path('deckhand-2-eth0'))
  await until(() => !results.addresses.has('second'))
})

test('of two notes about one address the later one counts', async (t) => {
  const folder = makeTemporaryFolder()
  for (const [name, uid, seconds] of [
    ['deckhand-b-eth0', 'new', 2000],
    ['deckhand-a-eth0', 'left', 1000],
    ['deckhand-c-eth0', 'left', 1000],
  ] as const) {
    const address = name.includes('-c-') ? '10.1.0.7/16' : '10.1.0.2/16'
    writeFileSync(join(folder, name), note(uid, address))
    utimesSync(join(folder, name), seconds, seconds)
  }
  const { results } = follow(t, folder)
  await until(() => results.addresses.get('left')?.length === 1 && results.addresses.has('new'))
  assert.deepEqual(results.addresses.get('new'), ['10.1.0.2'])
  assert.deepEqual(results.addresses.get('left'), ['10.1.0.7'])
})
