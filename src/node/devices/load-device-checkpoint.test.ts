import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeStateFile } from '../../../test/fakes/fake-state-file.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { formatDeviceCheckpoint } from './device-checkpoint.ts'
import { loadDeviceCheckpoint } from './load-device-checkpoint.ts'

async function load(text: string | undefined, isStuck = false) {
  const file = new FakeStateFile('/d/record', text)
  if (isStuck) file.setAside = () => Promise.reject(new Error('no'))
  const broken: string[] = []
  const loaded = await loadDeviceCheckpoint({
    file,
    onBroken: (message) => void broken.push(message),
    log: silentLogger,
  })
  return { loaded, broken, aside: file.aside.length }
}

const NOTHING = { entries: [], registered: new Map() }

describe('loadDeviceCheckpoint()', () => {
  test('knows nothing where nothing was recorded', async () => {
    assert.deepEqual(await load(undefined), { loaded: { ...NOTHING, isKnown: false }, broken: [], aside: 0 })
  })

  test('has what was recorded', async () => {
    const registered = new Map([['example.com/gpu', ['a']]])
    const { loaded, broken } = await load(formatDeviceCheckpoint({ entries: [], registered }))
    assert.deepEqual([loaded, broken], [{ entries: [], registered, isKnown: true }, []])
  })

  for (const [isStuck, where] of [
    [false, '/d/record.broken'],
    [true, '/d/record'],
  ] as const) {
    test(`sets an invalid record aside${isStuck ? ', or leaves it where it is' : ''}`, async () => {
      const why = 'which devices containers have is taken from what runs'
      assert.deepEqual(await load('{', isStuck), {
        loaded: { ...NOTHING, isKnown: true },
        broken: [`Cannot read "/d/record": ${why}; the file is kept as "${where}"`],
        aside: isStuck ? 0 : 1,
      })
    })
  }
})
