import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeObjectApi } from '../../../test/fakes/fake-object-api.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { ObjectError } from './object-api.ts'
import { createPodObjects } from './pod-objects.ts'
import type { PodObjectsDeps } from './pod-objects.ts'

const never = new AbortController().signal
const key = { namespace: 'shop', name: 'web' }
const MINUTE = 60_000

/** A pod that takes its environment from ConfigMaps of these names. */
function podWith(uid: string, ...names: readonly string[]): Pod {
  const envFrom = names.map((name) => ({ configMapRef: { name } }))
  return createPod({ metadata: { uid }, spec: { containers: [createContainer({ envFrom })] } })
}

async function setUp(t: TestContext, parts: Partial<PodObjectsDeps> = {}) {
  const clock = new FakeClock()
  const api = new FakeObjectApi(clock)
  const over = new AbortController()
  const tasks = new TaskGroup(over.signal)
  const changes: (readonly string[])[] = []
  const objects = createPodObjects({
    api,
    strategy: 'Watch',
    syncFrequencyMs: MINUTE,
    nodeTtlMs: () => undefined,
    onChange: (pods) => void changes.push(pods),
    tasks,
    clock,
    random: () => 1,
    log: silentLogger,
    ...parts,
  })
  t.after(async () => {
    over.abort(new Error('test ended'))
    await tasks.join()
    assert.deepEqual([api.watching, clock.sleeping], [0, 0])
  })
  const put = (value: string, more = {}) => api.put('ConfigMap', { metadata: key, data: { value }, ...more })
  const read = async () => (await objects.configMap(key, never)).data?.['value']
  return { clock, api, tasks, objects, changes, put, read }
}

/** Moves time on while a caller waits for an answer. */
async function during<T>(clock: FakeClock, ms: number, answer: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [settled] = await Promise.all([Promise.allSettled([answer]), clock.advance(ms)])
  return settled[0]
}

const timedOut = {
  name: 'ObjectError',
  reason: 'Unavailable',
  message: 'failed to sync configmap cache: timed out waiting for the condition',
}

describe('createPodObjects() with the strategy Watch', () => {
  test('reads what pods refer to, and nothing else', async (t) => {
    const { objects, put, read } = await setUp(t)
    put('1')
    await assert.rejects(read(), { message: 'object "shop"/"web" not registered' })
    objects.register(podWith('u-1', 'web', 'other'))
    assert.equal(await read(), '1')
    await assert.rejects(objects.configMap({ ...key, name: 'other' }, never), {
      reason: 'NotFound',
      message: 'configmap "other" not found',
    })
    await assert.rejects(objects.secret(key, never), { message: 'object "shop"/"web" not registered' })
  })

  test('watches an object once, however many pods refer to it, until the last is gone', async (t) => {
    const { api, tasks, clock, objects, put, read } = await setUp(t)
    put('1')
    for (const uid of ['u-1', 'u-2', 'u-3']) objects.register(podWith(uid, 'web'))
    objects.register(podWith('u-1', 'web'))
    await read()
    assert.deepEqual([api.calls, tasks.size], [['watch ConfigMap shop/web'], 1])
    objects.unregister(parsePodUid('u-1'))
    objects.unregister(parsePodUid('u-2'))
    assert.equal(await read(), '1')
    objects.unregister(parsePodUid('u-3'))
    await clock.advance(0)
    assert.deepEqual([api.watching, tasks.size, clock.sleeping], [0, 0, 0])
    await assert.rejects(read(), /not registered/)
  })

  test('follows a pod whose references change', async (t) => {
    const { api, clock, objects } = await setUp(t)
    objects.register(podWith('u-1', 'web', 'a'))
    objects.register(podWith('u-1', 'web', 'b'))
    await clock.advance(0)
    assert.deepEqual(
      [api.calls, api.watching],
      [['watch ConfigMap shop/web', 'watch ConfigMap shop/a', 'watch ConfigMap shop/b'], 2],
    )
    await assert.rejects(objects.configMap({ ...key, name: 'a' }, never), /not registered/)
  })

  test('notifies the pods that refer to an object when it changes, comes or goes, and only then', async (t) => {
    const { api, objects, changes, put, read } = await setUp(t)
    objects.register(podWith('u-1', 'web'))
    objects.register(podWith('u-2', 'web', 'other'))
    await assert.rejects(read(), /not found/)
    assert.deepEqual(changes, [])
    put('1')
    put('2')
    api.put('ConfigMap', { metadata: { ...key, name: 'unrelated' } })
    api.remove('ConfigMap', key)
    assert.deepEqual(changes, [
      ['u-1', 'u-2'],
      ['u-1', 'u-2'],
      ['u-1', 'u-2'],
    ])
    await assert.rejects(read(), /not found/)
  })

  test('a reader waits a second for the first answer; one that comes later is reported', async (t) => {
    const { clock, api, objects, changes, put, read } = await setUp(t)
    api.silent = true
    objects.register(podWith('u-1', 'web'))
    let settled = false
    const answer = read().finally(() => (settled = true))
    answer.catch(() => {})
    await clock.advance(999)
    assert.equal(settled, false)
    await clock.advance(1)
    await assert.rejects(answer, timedOut)
    api.silent = false
    put('1')
    assert.deepEqual(changes, [['u-1']])
    assert.equal(await read(), '1')
  })

  test('begins a broken watch again, ever more slowly; the object stays readable meanwhile', async (t) => {
    const { clock, api, objects, changes, put, read } = await setUp(t)
    put('1')
    objects.register(podWith('u-1', 'web'))
    await read()
    api.failure = new ObjectError('Unavailable', 'away')
    api.breakWatches()
    await clock.advance(10_000)
    // At 0, 0.8, 2.4, 5.6 s.
    assert.equal(api.calls.length, 4)
    assert.equal(await read(), '1')
    put('2')
    api.failure = undefined
    await clock.advance(2_000)
    assert.equal(await read(), '2')
    assert.deepEqual(changes, [['u-1']])
    api.breakWatches()
    await clock.advance(800)
    assert.deepEqual([api.watching, changes.length], [1, 1])
  })

  test('says why in the cause when the first word never comes', async (t) => {
    const { clock, api, objects, read } = await setUp(t)
    api.failure = new ObjectError('Forbidden', 'not yours')
    objects.register(podWith('u-1', 'web'))
    const result = await during(clock, 1000, read())
    assert.equal(result.status, 'rejected')
    assert.deepEqual([result.reason.message, result.reason.cause.message], [timedOut.message, 'not yours'])
  })

  test('ends a watch whose object is not read, and begins it again with the next reader', async (t) => {
    const { clock, api, objects, put, read } = await setUp(t)
    put('1')
    objects.register(podWith('u-1', 'web'))
    await clock.advance(4 * MINUTE)
    await read()
    await clock.advance(5 * MINUTE - 1)
    assert.equal(api.watching, 1)
    await clock.advance(1)
    assert.equal(api.watching, 0)
    put('2')
    assert.equal(await read(), '2')
    assert.equal(api.watching, 1)
  })

  test('gives what it knew before an idle time when the API is away, but not to a pod that is new', async (t) => {
    const { clock, api, objects, put, read } = await setUp(t)
    put('1')
    objects.register(podWith('u-1', 'web'))
    await read()
    await clock.advance(5 * MINUTE)
    api.failure = new ObjectError('Unavailable', 'away')
    assert.deepEqual(await during(clock, 1000, read()), { status: 'fulfilled', value: '1' })
    await clock.advance(10 * MINUTE)
    objects.register(podWith('u-2', 'web'))
    assert.equal((await during(clock, 1000, read())).status, 'rejected')
  })

  test('no longer watches an object that is immutable', async (t) => {
    const { clock, api, objects, put, read } = await setUp(t)
    put('1', { immutable: true })
    objects.register(podWith('u-1', 'web'))
    assert.equal(await read(), '1')
    await clock.advance(0)
    assert.deepEqual([api.watching, clock.sleeping], [0, 0])
    objects.register(podWith('u-2', 'web'))
    assert.equal(await read(), '1')
    assert.equal(api.calls.length, 1)
  })

  test('a reader that gives up leaves nothing behind', async (t) => {
    const { clock, api, objects } = await setUp(t)
    api.silent = true
    objects.register(podWith('u-1', 'web'))
    const impatient = new AbortController()
    const answer = objects.configMap(key, impatient.signal)
    impatient.abort(new Error('enough'))
    await assert.rejects(answer, /enough/)
    assert.equal(clock.sleeping, 1)
  })
})

describe('createPodObjects() with the strategy Cache', () => {
  const cache = { strategy: 'Cache' } as const

  test('asks again after the time to live, first consistently, then from memory', async (t) => {
    let ttl: number | undefined
    const { clock, api, objects, put, read } = await setUp(t, { ...cache, nodeTtlMs: () => ttl })
    put('1')
    await assert.rejects(read(), { message: 'object "shop"/"web" not registered' })
    objects.register(podWith('u-1', 'web'))
    assert.deepEqual(await Promise.all([read(), read()]), ['1', '1'])
    put('2')
    await clock.advance(MINUTE - 1)
    assert.equal(await read(), '1')
    await clock.advance(1)
    assert.equal(await read(), '2')
    ttl = 10_000
    await clock.advance(10_000)
    await read()
    assert.deepEqual(api.calls, [
      'get ConfigMap shop/web',
      'get ConfigMap shop/web cached',
      'get ConfigMap shop/web cached',
    ])
  })

  test('asks consistently for a pod that is new', async (t) => {
    const { api, objects, put, read } = await setUp(t, cache)
    put('1')
    objects.register(podWith('u-1', 'web'))
    await read()
    put('2')
    objects.register(podWith('u-2', 'web'))
    assert.equal(await read(), '2')
    assert.deepEqual(api.calls, ['get ConfigMap shop/web', 'get ConfigMap shop/web'])
  })

  test('keeps what it has when the API fails, but not when the object is gone', async (t) => {
    const { clock, api, objects, put, read } = await setUp(t, cache)
    put('1')
    objects.register(podWith('u-1', 'web'))
    await read()
    api.failure = new ObjectError('Unavailable', 'away')
    await clock.advance(MINUTE)
    assert.equal(await read(), '1')
    api.failure = undefined
    api.remove('ConfigMap', key)
    await assert.rejects(read(), { reason: 'NotFound', message: 'configmap "web" not found' })
    assert.deepEqual(api.calls, ['get ConfigMap shop/web', 'get ConfigMap shop/web cached', 'get ConfigMap shop/web'])
  })

  test('fails when there never was an answer, and does not wait for ever for one', async (t) => {
    const { clock, api, objects, read } = await setUp(t, cache)
    objects.register(podWith('u-1', 'web'))
    api.failure = new ObjectError('Unavailable', 'away')
    await assert.rejects(read(), { message: 'away' })
    api.failure = undefined
    api.silent = true
    const result = await during(clock, 10_000, read())
    assert.equal(result.status, 'rejected')
    assert.deepEqual(
      [result.reason.reason, result.reason.message],
      ['Unavailable', 'Cannot read ConfigMap shop/web: the API server did not answer within 10 s'],
    )
  })
})

describe('createPodObjects() otherwise', () => {
  test('the strategy Get asks each time, whether a pod refers to it or not', async (t) => {
    const { api, put, read } = await setUp(t, { strategy: 'Get' })
    await assert.rejects(read(), { reason: 'NotFound', message: 'configmap "web" not found' })
    put('1')
    await read()
    put('2')
    assert.equal(await read(), '2')
    assert.equal(api.calls.length, 3)
  })

  test('asks for claims, volumes and tokens', async (t) => {
    const { api, objects } = await setUp(t)
    api.put('PersistentVolumeClaim', { metadata: key, spec: { volumeName: 'pv' } })
    api.put('PersistentVolume', { metadata: { name: 'pv' }, spec: { volumeMode: 'Block' } })
    assert.deepEqual((await objects.claim(key, never)).spec, { volumeName: 'pv' })
    assert.deepEqual((await objects.persistentVolume('pv', never)).spec, { volumeMode: 'Block' })
    const pod = createPod({ spec: { serviceAccountName: 'robot' } })
    const spec = { audiences: ['a'], expirationSeconds: 600, boundObject: undefined }
    assert.equal((await objects.token(pod, spec, never)).token, 'token-1')
    assert.equal(api.calls.at(-1), 'createToken shop/robot a')
  })

  test('remembers the service account of a pod until its end', async (t) => {
    const { api, objects } = await setUp(t)
    const pod = createPod({ spec: { serviceAccountName: 'robot' } })
    api.put('ServiceAccount', { metadata: { namespace: 'shop', name: 'robot', uid: 'sa-1' } })
    objects.register(pod)
    const uid = async () => (await objects.serviceAccount(pod, never)).metadata?.uid
    assert.equal(await uid(), 'sa-1')
    api.failure = new ObjectError('Unavailable', 'away')
    assert.equal(await uid(), 'sa-1')
    objects.unregister(pod.metadata.uid)
    await assert.rejects(uid(), { message: 'away' })
  })

  test('without an API every read says so at once', async (t) => {
    const { tasks, objects } = await setUp(t, { api: undefined })
    const pod = podWith('u-1', 'web')
    objects.register(pod)
    const away = { name: 'ObjectError', reason: 'Unavailable', message: 'this node has no API server' }
    await assert.rejects(objects.configMap(key, never), away)
    await assert.rejects(objects.secret(key, never), away)
    await assert.rejects(objects.claim(key, never), away)
    await assert.rejects(objects.persistentVolume('pv', never), away)
    await assert.rejects(objects.serviceAccount(pod, never), away)
    const spec = { audiences: [], expirationSeconds: 600, boundObject: undefined }
    await assert.rejects(objects.token(pod, spec, never), {
      reason: 'Unavailable',
      message: 'cannot use TokenManager when kubelet is in standalone mode',
    })
    assert.equal(tasks.size, 0)
  })
})
