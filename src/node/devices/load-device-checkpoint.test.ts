import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeStateFile } from '../../../test/fakes/fake-state-file.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { formatDeviceCheckpoint } from './device-checkpoint-file.ts'
import { loadDeviceCheckpoint } from './load-device-checkpoint.ts'

async function load(text: string | undefined, isStuck = false) {
  const file = new FakeStateFile('/d/record', text)
  if (isStuck) file.setAside = () => Promise.reject(new Error('no'))
  return { loaded: await loadDeviceCheckpoint({ file, log: silentLogger }), aside: file.aside.length }
}

const NOTHING = { entries: [], registered: new Map() }

describe('loadDeviceCheckpoint()', () => {
  test('knows nothing where nothing was recorded', async () => {
    assert.deepEqual(await load(undefined), { loaded: { ...NOTHING, isKnown: false }, aside: 0 })
  })

  test('has what was recorded', async () => {
    const registered = new Map([['example.com/gpu', ['a']]])
    const { loaded, aside } = await load(formatDeviceCheckpoint({ entries: [], registered }))
    assert.deepEqual([loaded, aside], [{ entries: [], registered, isKnown: true }, 0])
  })

  for (const isStuck of [false, true]) {
    test(`sets an invalid record aside${isStuck ? ', or leaves it where it is' : ''}`, async () => {
      assert.deepEqual(await load('{', isStuck), {
        loaded: { ...NOTHING, isKnown: true },
        aside: isStuck ? 0 : 1,
      })
    })
  }
})
