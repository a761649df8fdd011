import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import { KubeApiError, KubeUnreachableError } from '../../protocols/kube-api/kube-client.ts'
import type { KubeRequest } from '../../protocols/kube-api/kube-client.ts'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { PodReport } from './pod-report.ts'
import { StatusWriter } from './status-writer.ts'

/** Holds pods, takes words of one level, and does what the test says before it answers. */
class TinyApi {
  readonly pods = new Map<string, Pod>()
  readonly sent: KubeRequest[] = []
  version = 1
  parallel = 0
  mostParallel = 0
  before: (request: KubeRequest) => Promise<void> = async () => {}

  put(uid: string, status: PodStatus = { phase: 'Pending' }): Pod {
    const metadata = { uid, name: uid, resourceVersion: String((this.version += 1)) }
    const pod = createPod({ metadata, status })
    this.pods.set(uid, pod)
    return pod
  }

  async send<T>(request: KubeRequest): Promise<T> {
    this.sent.push(request)
    this.parallel += 1
    this.mostParallel = Math.max(this.mostParallel, this.parallel)
    try {
      await this.before(request)
      return this.#answer(request) as T
    } finally {
      this.parallel -= 1
    }
  }

  #answer({ method, path, body }: KubeRequest): unknown {
    const name = path.split('/')[6] ?? ''
    const pod = this.pods.get(name)
    if (pod === undefined) throw new KubeApiError('not found', { code: 404, reason: 'NotFound' })
    if (method === 'GET') return pod
    const { metadata, status, preconditions } = body as {
      metadata?: { uid: string; resourceVersion?: string }
      status?: PodStatus
      preconditions?: { uid: string }
    }
    const version = metadata?.resourceVersion ?? pod.metadata.resourceVersion
    const uid = metadata?.uid ?? preconditions?.uid
    if (uid !== pod.metadata.uid || version !== pod.metadata.resourceVersion)
      throw new KubeApiError('conflict', { code: 409, reason: 'Conflict' })
    if (method === 'DELETE') this.pods.delete(name)
    const next = { ...pod.metadata, resourceVersion: String((this.version += 1)) }
    const changed = { ...pod, metadata: next, status: { ...pod.status, ...status } }
    if (method === 'PATCH') this.pods.set(name, changed)
    return changed
  }
}

function setUp(uids: readonly string[] = ['u-1']) {
  const api = new TinyApi()
  const clock = new FakeClock()
  const reports = new Map<PodUid, PodReport>()
  const reported: number[] = []
  const writer = new StatusWriter({
    client: api,
    report: (uid) => reports.get(uid),
    decode: (object) => object as Pod,
    clock,
    random: () => 0,
    log: silentLogger,
    onReported: (seconds) => void reported.push(seconds),
  })
  const stop = new AbortController()
  const running = writer.run(stop.signal).catch((error: unknown) => error)
  const say = (uid: string, status: PodStatus, parts: Partial<PodReport> = {}) => {
    const pod = createPod({ metadata: { uid, name: uid } })
    reports.set(parsePodUid(uid), { pod, status, mayRun: false, isFinished: false, ...parts })
    writer.wake(parsePodUid(uid))
  }
  const see = () => writer.see([...api.pods.values()])
  for (const uid of uids) api.put(uid)
  see()
  return {
    api,
    clock,
    reports,
    writer,
    reported,
    say,
    see,
    patches: () => api.sent.filter(({ method }) => method === 'PATCH'),
    end: async () => {
      stop.abort(new ShutdownError('test ends'))
      await running
      assert.equal(clock.sleeping, 0)
    },
  }
}

const away = async () => {
  throw new KubeUnreachableError('Cannot reach the API')
}

describe('StatusWriter', () => {
  test('sends what differs, names the object, and sends nothing twice', async () => {
    const { api, clock, say, see, end } = setUp()
    say('u-1', { phase: 'Running', podIP: '192.0.2.1' })
    await clock.advance(0)
    see()
    say('u-1', { phase: 'Running', podIP: '192.0.2.1' })
    await clock.advance(60_000)
    assert.deepEqual(api.sent, [
      {
        method: 'PATCH',
        path: '/api/v1/namespaces/shop/pods/u-1/status',
        contentType: 'application/strategic-merge-patch+json',
        body: { metadata: { uid: 'u-1', resourceVersion: '2' }, status: { phase: 'Running', podIP: '192.0.2.1' } },
        timeoutMs: 15_000,
      },
    ])
    await end()
  })

  test('sends one thing at a time for each pod, and of all that came meanwhile the last', async () => {
    const { api, clock, say, patches, end } = setUp()
    const held = Promise.withResolvers<void>()
    api.before = () => held.promise
    say('u-1', { phase: 'Running', message: '1' })
    await clock.advance(0)
    for (const message of ['2', '3', '4']) say('u-1', { phase: 'Running', message })
    await clock.advance(0)
    assert.equal(patches().length, 1)
    held.resolve()
    await clock.advance(0)
    assert.deepEqual(
      patches().map(({ body }) => (body as { status: PodStatus }).status.message),
      ['1', '4'],
    )
    await end()
  })

  test('believes its own answers more than a watch that lags behind', async () => {
    const { api, clock, say, see, patches, writer, end } = setUp()
    const old = [...api.pods.values()]
    say('u-1', { phase: 'Running', message: 'a' })
    await clock.advance(0)
    writer.see(old.map((pod) => ({ ...pod })))
    say('u-1', { phase: 'Pending' })
    await clock.advance(0)
    see()
    await clock.advance(0)
    const [, second] = patches().map(({ body }) => (body as { status: PodStatus }).status)
    assert.deepEqual(second, { message: null, phase: 'Pending' })
    await end()
  })

  test('reports many pods at a time, but not all', async () => {
    const uids = Array.from({ length: 40 }, (_, index) => `u-${index}`)
    const { api, clock, say, end } = setUp(uids)
    api.before = () => clock.sleep(100, new AbortController().signal)
    for (const uid of uids) say(uid, { phase: 'Running' })
    await clock.advance(10_000)
    assert.deepEqual([api.sent.length, api.mostParallel], [40, 8])
    await end()
  })

  test('asks ever more seldom while the API is away, for one pod only, and then reports the newest of each', async () => {
    const uids = Array.from({ length: 20 }, (_, index) => `u-${index}`)
    const { api, clock, say, reported, writer, end } = setUp(uids)
    api.before = away
    for (const uid of uids) say(uid, { phase: 'Running' })
    await clock.advance(3_600_000)
    for (const uid of uids) say(uid, { phase: 'Failed' })
    const tries = api.sent.length
    assert.ok(tries < 380, `${tries} tries in an hour`)
    assert.equal(writer.pending, 20)
    api.before = async () => {}
    await clock.advance(30_000)
    assert.equal(api.sent.length - tries, 20)
    assert.ok(api.pods.values().every(({ status }) => status?.phase === 'Failed'))
    assert.deepEqual([writer.pending, reported.length], [0, 20])
    await end()
  })

  test('reports at once when the API has answered another, and is not driven by that', async () => {
    const { api, clock, say, writer, end } = setUp()
    api.before = away
    say('u-1', { phase: 'Running' })
    await clock.advance(25_000)
    const tries = api.sent.length
    for (let turn = 0; turn < 100; turn += 1) {
      writer.apiAnswers()
      await clock.advance(10)
    }
    assert.equal(api.sent.length - tries, 1, 'one try, although others succeed')
    await clock.advance(60_000)
    api.before = async () => {}
    writer.apiAnswers()
    await clock.advance(0)
    assert.equal(api.pods.get('u-1')?.status?.phase, 'Running')
    await end()
  })

  test('waits as long as an overloaded API asks for', async () => {
    const { api, clock, say, writer, end } = setUp()
    api.before = async () => {
      throw new KubeApiError('too many', { code: 429, reason: 'TooManyRequests', retryAfterSeconds: 60 })
    }
    say('u-1', { phase: 'Running' })
    await clock.advance(59_000)
    writer.apiAnswers()
    await clock.advance(0)
    assert.equal(api.sent.length, 1)
    await clock.advance(1000)
    assert.equal(api.sent.length, 2)
    await end()
  })

  test('holds no other pod up because of one whose status is rejected', async () => {
    const { api, clock, say, end } = setUp(['bad', 'good'])
    api.before = async ({ path }) => {
      if (path.includes('bad')) throw new KubeApiError('invalid', { code: 422, reason: 'Invalid' })
    }
    say('bad', { phase: 'Running' })
    await clock.advance(0)
    say('good', { phase: 'Running' })
    await clock.advance(600_000)
    assert.equal(api.pods.get('good')?.status?.phase, 'Running')
    const tries = api.sent.filter(({ path }) => path.includes('bad')).length
    assert.ok(tries > 2 && tries < 10, `${tries} tries`)
    await end()
  })

  test('reads again before it changes the phase of an object that another has changed', async () => {
    const { api, clock, say, end } = setUp()
    api.put('u-1', { phase: 'Failed', reason: 'NodeLost' })
    say('u-1', { phase: 'Running' })
    await clock.advance(1000)
    assert.deepEqual(
      api.sent.map(({ method }) => method),
      ['PATCH', 'GET'],
    )
    assert.deepEqual(api.pods.get('u-1')?.status, { phase: 'Failed', reason: 'NodeLost' })
    await end()
  })

  test('never touches another pod of the same name', async () => {
    const { api, clock, say, reports, writer, end } = setUp()
    const other = createPod({
      metadata: { uid: 'u-2', name: 'u-1', resourceVersion: '99' },
      status: { phase: 'Running' },
    })
    api.pods.set('u-1', other)
    say('u-1', { phase: 'Failed' })
    await clock.advance(1000)
    assert.equal(api.pods.get('u-1'), other)
    reports.clear()
    await clock.advance(60_000)
    assert.deepEqual([writer.size, writer.pending], [0, 0])
    await end()
  })

  test('asks for the end of an object when its pod has ended and that is reported, once', async () => {
    const { api, clock, say, see, writer, end } = setUp([])
    const pod = api.put('u-1', { phase: 'Running' })
    api.pods.set('u-1', { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })
    see()
    say('u-1', { phase: 'Failed' }, { mayRun: true })
    await clock.advance(0)
    assert.equal(api.sent.length, 0, 'something may run')
    say('u-1', { phase: 'Failed' })
    await clock.advance(0)
    say('u-1', { phase: 'Failed' }, { isFinished: true })
    await clock.advance(0)
    writer.wake(parsePodUid('u-1'))
    await clock.advance(0)
    assert.deepEqual(
      api.sent.map(({ method }) => method),
      ['PATCH', 'DELETE'],
    )
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: 'u-1' } }
    assert.deepEqual(api.sent.at(-1)?.body, options)
    await end()
  })

  test('asks again for the end of an object when what answered was no API', async () => {
    const { api, clock, say, see, end } = setUp()
    const pod = api.put('u-1', { phase: 'Failed' })
    api.pods.set('u-1', { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })
    see()
    const send = api.send.bind(api)
    let answers = 0
    api.send = async <T>(request: KubeRequest): Promise<T> => {
      answers += 1
      return answers === 1 ? ({ type: 'ELF', object: {} } as T) : await send<T>(request)
    }
    say('u-1', { phase: 'Failed' }, { isFinished: true })
    await clock.advance(0)
    assert.equal(api.pods.size, 1)
    await clock.advance(10_000)
    assert.equal(api.pods.size, 0)
    await end()
  })

  test('does not insist on what the API writes in its own way', async () => {
    const { api, clock, say, writer, patches, end } = setUp()
    const send = api.send.bind(api)
    api.send = async <T>(request: KubeRequest): Promise<T> => {
      const answer = await send<Pod>(request)
      return { ...answer, status: { ...answer.status, message: 'trimmed' } } as T
    }
    say('u-1', { phase: 'Running', message: ' trimmed ' })
    await clock.advance(0)
    for (let times = 0; times < 5; times += 1) {
      writer.wake(parsePodUid('u-1'))
      await clock.advance(60_000)
    }
    assert.equal(patches().length, 1)
    await end()
  })

  test('reports at once what a write that it did not know of put in its place', async () => {
    const { api, clock, say, see, patches, end } = setUp([])
    api.put('u-1', { phase: 'Running', message: 'now' })
    see()
    let isLate = false
    api.before = async ({ method }) => {
      const late = api.pods.get('u-1')
      if (method !== 'PATCH' || late === undefined || isLate) return
      isLate = true
      api.put('u-1', { ...late.status, message: 'before' })
    }
    say('u-1', { phase: 'Running', message: 'now', podIP: '192.0.2.1' })
    await clock.advance(0)
    see()
    await clock.advance(0)
    assert.deepEqual(
      patches().map(({ body }) => (body as { status: PodStatus }).status),
      [{ podIP: '192.0.2.1' }, { message: 'now' }],
    )
    assert.deepEqual(api.pods.get('u-1')?.status, { phase: 'Running', message: 'now', podIP: '192.0.2.1' })
    await end()
  })
})
