import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeNodeApi, rejection } from '../../../test/fakes/fake-node-api.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { KubeUnreachableError } from '../../protocols/kube-api/kube-client.ts'
import { runLease } from './run-lease.ts'

const away = () => new KubeUnreachableError('no answer')
const OWNER = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'n-1' }

async function setUp(prepare: (api: FakeNodeApi) => void = () => {}) {
  const clock = new FakeClock()
  const api = new FakeNodeApi()
  api.node = { metadata: { name: 'node-1', uid: 'n-1' } }
  prepare(api)
  let dropped = 0
  const stop = new AbortController()
  const running = runLease(
    {
      api,
      nodeName: 'node-1',
      durationSeconds: 40,
      dropConnections: () => void (dropped += 1),
      clock,
      log: silentLogger,
      random: () => 0,
    },
    stop.signal,
  )
  running.catch(() => {})
  await clock.advance(0)
  return {
    clock,
    api,
    dropped: () => dropped,
    calls: () => api.calls.splice(0),
    stop: async () => {
      stop.abort(new Error('leave'))
      await assert.rejects(running, /leave/)
      assert.equal(clock.sleeping, 0)
    },
  }
}

describe('runLease()', () => {
  test('makes the lease, then renews it with one request four times in its duration', async () => {
    const { api, clock, calls, stop } = await setUp()
    assert.deepEqual(calls(), ['getLease', 'getNode', 'createLease'])
    assert.deepEqual(api.lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'node-1', namespace: 'kube-node-lease', ownerReferences: [OWNER], resourceVersion: '1' },
      spec: { holderIdentity: 'node-1', leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z' },
    })
    await clock.advance(40_000)
    assert.deepEqual(calls(), Array<string>(4).fill('replaceLease'))
    assert.equal(api.lease?.spec?.renewTime, '2026-01-01T00:00:40.000000Z')
    await stop()
  })

  test('goes on in step when the clock is set, and writes the time that it is then', async () => {
    const { api, clock, calls, stop } = await setUp()
    calls()
    for (const [hours, time] of [
      [5, '2026-01-01T05:00:20.000000Z'],
      [-10, '2025-12-31T19:00:40.000000Z'],
    ] as const) {
      clock.step(hours * 3_600_000)
      await clock.advance(20_000)
      assert.deepEqual([calls(), api.lease?.spec?.renewTime], [['replaceLease', 'replaceLease'], time])
    }
    await stop()
  })

  test('adopts the lease that is there, and gives it an owner when it has none', async () => {
    const { api, calls, stop } = await setUp((api) => {
      api.lease = { metadata: { name: 'node-1', labels: { a: 'b' } }, spec: { holderIdentity: 'x' } }
    })
    assert.deepEqual(calls(), ['getLease', 'getNode', 'replaceLease'])
    const { metadata, spec } = api.lease ?? {}
    assert.deepEqual([metadata?.labels, metadata?.ownerReferences], [{ a: 'b' }, [OWNER]])
    assert.deepEqual([spec?.holderIdentity, spec?.leaseDurationSeconds], ['x', 40])
    await stop()
  })

  test('waits for the node to which the lease is to belong', async () => {
    const { api, clock, calls, stop } = await setUp((api) => void (api.node = undefined))
    assert.deepEqual([calls(), api.lease], [['getLease', 'getNode'], undefined])
    api.node = { metadata: { name: 'node-1', uid: 'n-1' } }
    await clock.advance(9999)
    assert.deepEqual(calls(), [])
    await clock.advance(1)
    assert.deepEqual(calls(), ['getLease', 'getNode', 'createLease'])
    await stop()
  })

  test('reads the lease again after another client has written it', async () => {
    const { api, clock, calls, stop } = await setUp()
    calls()
    api.lease = { ...api.lease, metadata: { ...api.lease?.metadata, resourceVersion: 'other' } }
    await clock.advance(10_000)
    assert.deepEqual(calls(), ['replaceLease', 'getLease', 'replaceLease'])
    await stop()
  })

  test('creates the lease again after it was deleted', async () => {
    const { api, clock, calls, stop } = await setUp()
    calls()
    api.lease = undefined
    await clock.advance(10_000)
    assert.deepEqual(calls(), ['replaceLease', 'getLease', 'getNode', 'createLease'])
    await stop()
  })

  test('drops the connections after the second try without an answer, not because of refusals', async () => {
    const { api, clock, calls, dropped, stop } = await setUp()
    calls()
    api.failures.push(away())
    await clock.advance(10_000)
    assert.deepEqual([calls().length, dropped()], [2, 0])
    api.failures.push(away(), away())
    await clock.advance(10_000)
    assert.deepEqual([calls().length, dropped()], [3, 1])
    api.failures.push(...Array.from({ length: 3 }, () => rejection(500, 'InternalError')))
    await clock.advance(10_000)
    assert.deepEqual([calls().length, dropped()], [4, 1])
    await stop()
  })

  test('is patient with an API that is away, and renews as soon as it is back', async () => {
    const { api, clock, calls, stop } = await setUp()
    calls()
    api.failures.push(...Array.from({ length: 12 }, away))
    await clock.advance(10_000)
    assert.deepEqual(calls(), [...Array<string>(5).fill('replaceLease'), 'getLease'])
    await clock.advance(100 + 200 + 400 + 800 + 1600 + 3200)
    assert.deepEqual(calls(), Array<string>(6).fill('getLease'))
    await clock.advance(6400)
    assert.deepEqual(calls(), ['getLease', 'replaceLease'])
    await stop()
  })
})
