import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { serveSocket, toMethod } from '../../../test/fakes/serve-socket.ts'
import { until } from '../../../test/fakes/until.ts'
import { TokenBucket } from '../../base/async/token-bucket.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import { decodeProtobuf } from '../../model/schema/protobuf/decode-protobuf.ts'
import { EventType, PodsDefinition } from './generated/pods-v1alpha1.ts'
import type { WatchPodsEvent } from './generated/pods-v1alpha1.ts'
import { PodChanges } from './pod-changes.ts'
import type { PodWithStatus } from './pod-watch.ts'
import { createPodsService } from './pods-service.ts'

const { signal } = new AbortController()

async function serve(t: TestContext, uids: readonly string[]) {
  const pods = new Map<PodUid, PodWithStatus>()
  const changes = new PodChanges()
  const put = (uid: string, phase: string, text = '') => {
    const pod = createPod({ metadata: { uid, name: `pod-${uid}`, annotations: { text } } })
    pods.set(pod.metadata.uid, { pod, status: { phase } })
    changes.changed(pod.metadata.uid)
    return pod.metadata.uid
  }
  for (const uid of uids) put(uid, 'Running')
  const service = createPodsService(
    { pods: () => [...pods.values()], find: (uid) => pods.get(uid), changes },
    new TokenBucket({ perSecond: 100, burst: 10, clock: new FakeClock() }),
  )
  const remove = (uid: PodUid) => {
    pods.delete(uid)
    changes.changed(uid)
  }
  return { ...(await serveSocket(t, [service])), changes, put, remove }
}

function read(bytes: Uint8Array): string {
  const { metadata, status } = decodeProtobuf(bytes, 'Pod') as {
    metadata?: { uid?: string }
    status?: { phase?: string }
  }
  return [metadata?.uid, status?.phase].filter((part) => part !== undefined).join(' ')
}

test('ListPods gives all pods with their status, in the order of their UIDs', async (t) => {
  const { channel } = await serve(t, ['b', 'a'])
  const { pods } = (await channel.unary(toMethod(PodsDefinition, 'listPods'), {}, {}, signal)) as { pods: Uint8Array[] }
  assert.deepEqual(pods.map(read), ['a Running', 'b Running'])
})

test('GetPod gives one pod, and rejects one that is not here', async (t) => {
  const { channel } = await serve(t, ['a'])
  const get = toMethod(PodsDefinition, 'getPod')
  const { pod } = (await channel.unary(get, { podUID: 'a' }, {}, signal)) as { pod: Uint8Array }
  assert.deepEqual(decodeProtobuf(pod, 'Pod'), {
    metadata: { name: 'pod-a', namespace: 'shop', uid: 'a', annotations: { text: '' } },
    spec: {
      containers: [{ name: 'main', image: 'registry.test/app:1' }],
      enableServiceLinks: true,
      securityContext: {},
    },
    status: { phase: 'Running' },
  })
  await assert.rejects(channel.unary(get, { podUID: '../x' }, {}, signal), { code: 'NotFound' })
})

test('WatchPods sends what is there and every change, and forgets a watcher that left', async (t) => {
  const { channel, changes, put, remove } = await serve(t, ['a'])
  const seen: string[] = []
  const leave = new AbortController()
  const events = channel.stream(toMethod(PodsDefinition, 'watchPods'), {}, {}, leave.signal)
  const watching = (async () => {
    for await (const { type, pod } of events as AsyncIterable<WatchPodsEvent>) {
      seen.push(`${Object.keys(EventType)[type]} ${read(pod)}`.trim())
      if (type === EventType.INITIAL_SYNC_COMPLETE) remove(put('b', 'Pending'))
    }
  })().catch(() => {})
  await until(() => seen.length === 4)
  assert.deepEqual(seen, ['ADDED a Running', 'INITIAL_SYNC_COMPLETE', 'ADDED b Pending', 'DELETED b'])
  assert.equal(changes.watchers, 1)
  leave.abort(new Error('enough'))
  await watching
  await until(() => changes.watchers === 0)
})

test('WatchPods keeps nothing for a watcher that does not read', async (t) => {
  const { channel, put } = await serve(t, [])
  const events = channel.stream(toMethod(PodsDefinition, 'watchPods'), {}, {}, signal)[Symbol.asyncIterator]()
  await events.next()
  const text = 'x'.repeat(100_000)
  for (let times = 0; times < 2000; times += 1) put('a', `Phase${times}`, text)
  let last = ''
  let count = 0
  while (last !== 'a Phase1999') {
    last = read(((await events.next()).value as unknown as WatchPodsEvent).pod)
    count += 1
  }
  assert.ok(count < 100, `expected a few of 2000 changes, not ${count}`)
  await events.return(undefined)
})

test('a watcher too many is refused', async (t) => {
  const { channel, changes } = await serve(t, [])
  for (let times = 0; times < 100; times += 1) changes.listen(() => {})
  const events = channel.stream(toMethod(PodsDefinition, 'watchPods'), {}, {}, signal)
  await assert.rejects(events.next(), { code: 'ResourceExhausted' })
})
