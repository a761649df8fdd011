import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeUserNamespaceRecords } from '../../../test/fakes/fake-user-namespace-records.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { UserNamespaces } from './user-namespaces.ts'

const BLOCK = 65_536
const uid = parsePodUid
const mapping = (hostId: number) => {
  const ids = [{ hostId, containerId: 0, length: BLOCK }]
  return { uids: ids, gids: ids }
}
const text = (hostId: number) => {
  const { uids, gids } = mapping(hostId)
  return JSON.stringify({ uidMappings: uids, gidMappings: gids })
}

function observe(name: string, hostId: number): ObservedPod {
  const sandbox = { id: 's', attempt: 0, ready: true, createdAt: 0, hostNetwork: false, ips: [] }
  const sandboxes = [{ ...sandbox, userNamespace: mapping(hostId) }]
  return { uid: uid(name), name, namespace: 'shop', sandboxes, containers: [] }
}

async function load(records: FakeUserNamespaceRecords, observed: readonly ObservedPod[] = []) {
  const range = { first: BLOCK, length: 2 * BLOCK }
  const deps = { records, range, idsPerPod: BLOCK, random: () => 0, log: silentLogger }
  const namespaces = await UserNamespaces.load(deps)
  await namespaces.adopt(observed)
  return namespaces
}

describe('UserNamespaces', () => {
  test('gives each pod ids of its own, which are recorded, and the same ones again', async () => {
    const records = new FakeUserNamespaceRecords()
    const namespaces = await load(records)
    const [first, second] = await Promise.all([namespaces.acquire(uid('u-1')), namespaces.acquire(uid('u-2'))])
    assert.deepEqual([first, second], [mapping(BLOCK), mapping(2 * BLOCK)])
    assert.deepEqual(await namespaces.acquire(uid('u-1')), first)
    assert.deepEqual(
      [...records.texts],
      [
        ['u-1', text(BLOCK)],
        ['u-2', text(2 * BLOCK)],
      ],
    )
  })

  test('gives none when all are in use, and those of a pod that is gone again', async () => {
    const namespaces = await load(new FakeUserNamespaceRecords())
    await namespaces.acquire(uid('u-1'))
    await namespaces.acquire(uid('u-2'))
    await assert.rejects(namespaces.acquire(uid('u-3')), /all 2 ranges of ids are in use by other pods/)
    await namespaces.release('u-1')
    assert.deepEqual(await namespaces.acquire(uid('u-3')), mapping(BLOCK))
  })

  test('gives nothing that could not be recorded', async () => {
    const records = new FakeUserNamespaceRecords()
    const namespaces = await load(records)
    records.failure = new Error('ENOSPC')
    await assert.rejects(namespaces.acquire(uid('u-1')), records.failure)
    records.failure = undefined
    assert.deepEqual(await namespaces.acquire(uid('u-2')), mapping(BLOCK))
  })

  test('knows after a restart who has what', async () => {
    const records = new FakeUserNamespaceRecords()
    const before = await load(records)
    await before.acquire(uid('u-1'))
    const after = await load(records)
    assert.deepEqual(await after.acquire(uid('u-2')), mapping(2 * BLOCK))
    assert.deepEqual(await after.acquire(uid('u-1')), mapping(BLOCK))
  })

  test('asks the runtime where a record is lost or not valid', async () => {
    const records = new FakeUserNamespaceRecords()
    records.texts.set('u-1', 'odd')
    const namespaces = await load(records, [observe('u-1', 2 * BLOCK)])
    assert.deepEqual(records.setAsides, ['u-1'])
    assert.deepEqual([...records.texts], [['u-1', text(2 * BLOCK)]])
    assert.deepEqual(await namespaces.acquire(uid('u-2')), mapping(BLOCK))
  })
})
