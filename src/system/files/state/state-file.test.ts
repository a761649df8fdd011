import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeStateFile } from '../../../../test/fakes/fake-state-file.ts'
import { setAsideBroken, StateRecord } from './state-file.ts'

describe('StateRecord', () => {
  test('writes what changed, and nothing twice', async () => {
    const file = new FakeStateFile('/d/state')
    let now = 'one'
    const record = new StateRecord({ write: (text) => file.write(text), format: () => now })
    await Promise.all([record.save(), record.save()])
    await record.save()
    assert.deepEqual([file.text, file.writes], ['one', 1])
    now = 'two'
    await record.save()
    assert.deepEqual([file.text, file.writes], ['two', 2])
  })

  test('does not write what an earlier agent wrote', async () => {
    const file = new FakeStateFile('/d/state')
    await new StateRecord({ write: (text) => file.write(text), format: () => 'nothing' }, 'nothing').save()
    assert.equal(file.writes, 0)
  })

  test('writes again after a failure', async () => {
    const file = new FakeStateFile('/d/state')
    const record = new StateRecord({ write: (text) => file.write(text), format: () => 'one' })
    file.failure = new Error('disk full')
    await assert.rejects(record.save(), /disk full/)
    file.failure = undefined
    await record.save()
    assert.equal(file.text, 'one')
  })
})

test('setAsideBroken() is content with a file that cannot be moved', async () => {
  const file = new FakeStateFile('/d/state', 'odd')
  assert.deepEqual(await setAsideBroken(file), { path: '/d/state', setAside: '/d/state.broken' })
  file.setAside = () => Promise.reject(new Error('no'))
  assert.deepEqual(await setAsideBroken(file), { path: '/d/state', setAside: undefined })
})

test('setAsideBroken() leaves a file alone that could not be read for the moment', async () => {
  const file = new FakeStateFile('/d/state', 'good')
  const error = Object.assign(new Error('ENOMEM'), { code: 'ENOMEM' })
  await assert.rejects(setAsideBroken(file, error), { code: 'ENOMEM' })
  assert.deepEqual([file.text, file.aside], ['good', []])
})
