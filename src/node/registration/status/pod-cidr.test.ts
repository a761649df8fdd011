import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { CallErrorCode } from '../../../protocols/grpc/grpc-call-error.ts'
import { PodCidr } from './pod-cidr.ts'

async function setUp() {
  const clock = new FakeClock()
  const reported: (string | undefined)[] = []
  const failures: CallErrorCode[] = []
  const podCidr = new PodCidr({
    calls: {
      updateRuntimeConfig: async ({ runtimeConfig }) => {
        reported.push(runtimeConfig?.networkConfig?.podCidr)
        const code = failures.shift()
        if (code !== undefined) throw new CriCallError('updateRuntimeConfig', code, 'no')
        return {}
      },
    },
    clock,
    log: silentLogger,
  })
  const stop = new AbortController()
  const running = podCidr.run(stop.signal)
  running.catch(() => {})
  await clock.advance(0)
  return {
    podCidr,
    clock,
    reported,
    failures,
    stop: async () => {
      stop.abort(new Error('leave'))
      await assert.rejects(running, /leave/)
      assert.equal(clock.sleeping, 0)
    },
  }
}

describe('PodCidr', () => {
  test('reports each change once', async () => {
    const { podCidr, clock, reported, stop } = await setUp()
    for (const cidr of ['10.0.0.0/24', '10.0.0.0/24', '10.0.1.0/24']) {
      podCidr.set(cidr)
      await clock.advance(10_000)
    }
    assert.deepEqual(reported, ['10.0.0.0/24', '10.0.1.0/24'])
    await stop()
  })

  test('tries again until the runtime has taken it', async () => {
    const { podCidr, clock, reported, failures, stop } = await setUp()
    failures.push('Unavailable')
    podCidr.set('10.0.0.0/24')
    await clock.advance(4999)
    assert.equal(reported.length, 1)
    await clock.advance(1)
    assert.equal(reported.length, 2)
    await clock.advance(60_000)
    assert.equal(reported.length, 2)
    await stop()
  })

  test('leaves a runtime alone that does not want to know', async () => {
    const { podCidr, clock, reported, failures, stop } = await setUp()
    failures.push('Unimplemented')
    podCidr.set('10.0.0.0/24')
    await clock.advance(60_000)
    assert.equal(reported.length, 1)
    await stop()
  })
})
