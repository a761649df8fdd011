import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import type { Polled } from './watch-by-polling.ts'
import { PolledCollection } from './watch-by-polling.ts'

const pod = (uid: string, phase: string) => ({ metadata: { uid }, status: { phase } })

test('a watch over a collection that is polled has every change since its list', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  let now: readonly Polled[] = [pod('a', 'Pending'), pod('b', 'Running')]
  const pods = new PolledCollection(clock, () => Promise.resolve(now))
  const { metadata } = (await pods.list(stop.signal)) as { readonly metadata: { readonly resourceVersion: string } }
  // Another reader, in between, takes nothing away.
  await pods.list(stop.signal)
  const watch = pods.watch(metadata.resourceVersion, stop.signal)
  const next = async () => {
    const { value } = await watch.next()
    const { type, object } = value as { type: string; object: { metadata: { uid?: string; resourceVersion: string } } }
    return [type, object.metadata.uid, Number(object.metadata.resourceVersion)] as const
  }
  now = [pod('a', 'Running'), pod('c', 'Pending')]
  const first = next()
  await clock.advance(5000)
  const seen = [await first, await next(), await next(), await next()]
  assert.deepEqual(
    seen.map(([type, uid]) => [type, uid]),
    [
      ['DELETED', 'b'],
      ['MODIFIED', 'a'],
      ['ADDED', 'c'],
      ['BOOKMARK', undefined],
    ],
  )
  const versions = seen.map(([, , version]) => version)
  assert.deepEqual(
    versions,
    versions.toSorted((a, b) => a - b),
  )
  stop.abort(new Error('The test ends'))
  await assert.rejects(watch.next())
  assert.equal(clock.sleeping, 0)
  await assert.rejects(pods.watch('99', stop.signal).next(), { code: 410 })
})
