import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../../../model/generated/core-v1.ts'
import { FakeClock } from '../../../../../test/fakes/fake-clock.ts'
import { WatchedAttachments } from './watched-attachments.ts'

test('WatchedAttachments says what the cluster has of this node, and wakes all who wait for a change', async () => {
  const clock = new FakeClock()
  let node: Node | undefined
  const attachments = new WatchedAttachments({ node: () => node, clock })
  const read = () => [attachments.isInUse('a'), attachments.isAttached('a')]
  assert.deepEqual(read(), [false, false])
  const { signal } = new AbortController()
  const waits = [attachments.changed(1000, signal), attachments.changed(1000, signal)]
  node = { status: { volumesInUse: ['a'], volumesAttached: [{ name: 'a', devicePath: '' }] } }
  attachments.wake()
  await Promise.all(waits)
  assert.deepEqual(read(), [true, true])
  const late = attachments.changed(1000, signal)
  await clock.advance(1000)
  await late
  const stop = new AbortController()
  const given = attachments.changed(1000, stop.signal)
  stop.abort(new Error('given up'))
  await assert.rejects(given, /given up/)
  assert.equal(clock.sleeping, 0)
})
