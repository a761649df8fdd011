import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeStateFile } from '../../../test/fakes/fake-state-file.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { PodAllocation } from '../../model/resources/pod-allocation.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { SavedAllocations } from './saved-allocations.ts'

const uid = parsePodUid('u-1')
const of = (cpu: string): PodAllocation => ({ containers: new Map([['c', { limits: { cpu } }]]), pod: undefined })

describe('SavedAllocations', () => {
  test('gives back to the next agent what was set', async () => {
    const file = new FakeStateFile('state')
    const first = await SavedAllocations.load(file, silentLogger)
    first.set(uid, of('1'))
    await first.saved()
    assert.deepEqual((await SavedAllocations.load(file, silentLogger)).get(uid), of('1'))
  })

  test('is written once for all that comes together, and not for what changes nothing', async () => {
    const file = new FakeStateFile('state')
    const state = await SavedAllocations.load(file, silentLogger)
    state.set(uid, of('1'))
    state.set(parsePodUid('u-2'), of('1'))
    await state.saved()
    assert.equal(file.writes, 1)
    state.set(uid, of('1000m'))
    await state.saved()
    state.set(uid, of('2'))
    state.forget(parsePodUid('u-2'))
    await state.saved()
    assert.equal(file.writes, 2)
    assert.deepEqual((await SavedAllocations.load(file, silentLogger)).uids(), [uid])
  })

  test('that cannot be read is set aside, and starts empty', async () => {
    const file = new FakeStateFile('state', '{"data":')
    const state = await SavedAllocations.load(file, silentLogger)
    assert.deepEqual([state.uids(), file.aside, file.text], [[], ['{"data":'], undefined])
  })

  test('that cannot be written holds no pod up, and is tried with the next request', async () => {
    const file = new FakeStateFile('state')
    const state = await SavedAllocations.load(file, silentLogger)
    file.failure = new Error('no space left on device')
    state.set(uid, of('1'))
    await state.saved()
    assert.deepEqual([state.get(uid), file.text], [of('1'), undefined])
    file.failure = undefined
    await state.saved()
    assert.deepEqual((await SavedAllocations.load(file, silentLogger)).get(uid), of('1'))
  })
})
