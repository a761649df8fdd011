import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { setVolumeGroup } from './set-volume-group.ts'

const never = new AbortController().signal

function setUp(takesMs: number, failed = 0) {
  const clock = new FakeClock()
  const events: string[] = []
  const warnings: string[] = []
  const deps = {
    clock,
    log: { ...silentLogger, warn: (message: string) => void warnings.push(message) },
    events: {
      record: (_: unknown, { type, reason, message }: { type: string; reason: string; message: string }) =>
        void events.push(`${type} ${reason} ${message}`),
    },
    guarded: {
      async setOwnership(_: unknown, onProgress: (entries: number) => void, signal: AbortSignal) {
        onProgress(7)
        await clock.sleep(takesMs, signal)
        return { entries: 7, failed }
      },
    },
  }
  const request = { pod: createPod(), root: '/v', group: 9, onlyOnRootMismatch: false }
  return { clock, events, warnings, set: (signal = never) => setVolumeGroup(deps, request, signal) }
}

describe('setVolumeGroup()', () => {
  test('reports how far a long change is, after half a minute and then every minute', async () => {
    const { clock, events, set } = setUp(95_000)
    const done = set()
    await clock.advance(29_999)
    assert.deepEqual(events, [])
    await clock.advance(65_001)
    await done
    const word = 'Warning VolumePermissionChangeInProgress Setting volume ownership for /v'
    assert.deepEqual(events, [
      `${word} is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods`,
      `${word}, processed 7 files.`,
    ])
    assert.equal(clock.sleeping, 0)
  })

  test('does not fail for single files, but says so in the log', async () => {
    const { clock, warnings, set } = setUp(0, 2)
    await Promise.all([set(), clock.advance(0)])
    assert.deepEqual(warnings, ['some files of a volume keep their group'])
  })

  test('gives up with the signal and leaves nothing behind', async () => {
    const { clock, set } = setUp(95_000)
    const over = new AbortController()
    const done = set(over.signal)
    over.abort(new Error('shutdown'))
    await assert.rejects(done, /shutdown/)
    assert.equal(clock.sleeping, 0)
  })
})
