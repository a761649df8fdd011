import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { EventFactory } from './event-factory.ts'

const input = {
  involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u', apiVersion: 'v1' },
  type: 'Normal',
  reason: 'Started',
  message: 'Started container web',
} as const

function createFactory() {
  return new EventFactory({ nodeName: 'node-1', clock: new FakeClock(), newUid: () => 'a-uid' })
}

describe('EventFactory', () => {
  test('fills in the reporter and the time, in the old fields and the new', () => {
    assert.deepEqual(createFactory().create(input), {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `web.${(BigInt(Date.UTC(2026, 0, 1)) * 1_000_000n).toString(16)}`, namespace: 'shop' },
      ...input,
      source: { component: 'kubelet', host: 'node-1' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
      reportingComponent: 'kubelet',
      reportingInstance: 'node-1',
    })
  })

  test('events of what has no namespace are in "default"', () => {
    const involvedObject = { kind: 'Node', name: 'node-1', apiVersion: 'v1' }
    assert.equal(createFactory().create({ ...input, involvedObject }).metadata.namespace, 'default')
  })

  test('two events of one moment have two names', () => {
    const factory = createFactory()
    assert.notEqual(factory.create(input).metadata.name, factory.create(input).metadata.name)
  })

  for (const name of ['x'.repeat(240), 'Not_a_name', '']) {
    test(`"${name.slice(0, 12)}" cannot be part of a name`, () => {
      const involvedObject = { ...input.involvedObject, name }
      assert.equal(createFactory().create({ ...input, involvedObject }).metadata.name, 'a-uid')
    })
  }

  test('a message has a bound', () => {
    assert.equal(createFactory().create({ ...input, message: 'x'.repeat(1e6) }).message.length, 16_384)
  })
})
