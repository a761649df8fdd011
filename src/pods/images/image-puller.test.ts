import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { countImages } from '../../../test/fakes/counted-images.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeCri } from '../../../test/fakes/fake-cri.ts'
import { openImages } from '../../../test/fakes/open-images.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { createCriClient } from '../../protocols/cri/cri-client.ts'
import type { CriClient } from '../../protocols/cri/cri-client.ts'
import { PodSandboxConfig } from '../../protocols/cri/generated/runtime-v1.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { ImageProvider } from '../sync/start/request-images.ts'
import type { PodEvent } from '../../model/events/pod-events.ts'
import { ImagePuller } from './image-puller.ts'
import type { PullLimits } from './shared-pulls.ts'

const UNLIMITED: PullLimits = { maxParallel: Infinity, perSecond: 0, burst: 1 }
const sandbox = PodSandboxConfig.fromPartial({ metadata: { name: 'web', uid: 'a', namespace: 'default' } })
const never = new AbortController().signal

function makeRequest(image: string, options: { uid?: string; policy?: string; priority?: number } = {}) {
  const { uid = 'a', policy = 'IfNotPresent', priority } = options
  const container: Container = { name: 'web', image, imagePullPolicy: policy }
  const pod: Pod = {
    metadata: { name: 'web', namespace: 'default', uid: parsePodUid(uid), annotations: { note: 'x' } },
    spec: { containers: [container], priority },
  }
  return { pod, podContainer: { kind: 'regular' as const, container }, sandbox }
}

describe('ImagePuller', () => {
  let fake: FakeCri
  let clock: FakeClock
  let runtimeClock: FakeClock
  let client: CriClient
  let events: string[]

  let counts = countImages()

  beforeEach(async () => {
    runtimeClock = new FakeClock()
    fake = await FakeCri.start({ clock: runtimeClock })
    clock = new FakeClock()
    client = createCriClient({ runtimeEndpoint: fake.endpoint, requestTimeoutMs: 1e9, clock, log: silentLogger })
    events = []
    counts = countImages()
  })

  afterEach(async () => {
    client.close()
    await fake[Symbol.asyncDispose]()
    assert.equal(clock.sleeping, 0, 'something still waits')
  })

  function makePuller(limits: Partial<PullLimits> = {}) {
    const record = (pod: Pod, { type, reason, message, fieldPath }: PodEvent) => {
      assert.equal(fieldPath, 'spec.containers{web}')
      events.push(`${pod.metadata.uid} ${type} ${reason} ${message}`)
    }
    const options = { calls: client, events: { record }, limits: { ...UNLIMITED, ...limits }, clock, log: silentLogger }
    return new ImagePuller({ ...options, ...openImages, metrics: counts.metrics })
  }

  const pulls = () => fake.requests('pullImage').map(({ image }) => image?.image)

  test('is what the workers of pods take', () => {
    const provider: ImageProvider = makePuller()
    assert.ok(provider)
  })

  test('uses an image that is there', async () => {
    const { id } = fake.images.add('web:1', { uid: { value: 0n }, username: '' })
    const image = await makePuller().ensure(makeRequest('web:1'), never)
    assert.deepEqual(image, { ref: id, uid: 0n, username: '' })
    assert.deepEqual(pulls(), [])
    assert.deepEqual(fake.requests('imageStatus')[0]?.image?.annotations, { note: 'x' })
    assert.deepEqual(events, [
      'a Normal Pulled Container image "web:1" already present on machine and can be accessed by the pod',
    ])
  })

  test('pulls what is not there, with the pod’s annotations and sandbox, and reports how long it took', async () => {
    const release = fake.script.hold('pullImage')
    const image = makePuller().ensure(makeRequest('web'), never)
    await until(() => pulls().length === 1)
    await clock.advance(1500)
    fake.images.add('web:latest', { username: 'www' })
    fake.script.answer('pullImage', { imageRef: 'sha256:ref' })
    release()
    assert.deepEqual(await image, { ref: 'sha256:ref', uid: undefined, username: 'www' })
    const [request] = fake.requests('pullImage')
    assert.deepEqual(
      [request?.image?.image, request?.image?.annotations, request?.auth, request?.sandboxConfig],
      ['web:latest', { note: 'x' }, undefined, sandbox],
    )
    assert.deepEqual(events, [
      'a Normal Pulling Pulling image "web:latest"',
      'a Normal Pulled Successfully pulled image "web:latest" in 1.5s (1.5s including waiting). Image size: 1000000 bytes.',
    ])
  })

  test('counts what was asked for, and how long pulls take', async () => {
    fake.images.add('web:1')
    const puller = makePuller()
    await puller.ensure(makeRequest('web:1'), never)
    await puller.ensure(makeRequest('web:1', { policy: 'Always' }), never)
    await assert.rejects(puller.ensure(makeRequest('other:1', { policy: 'Never' }), never))
    assert.deepEqual(counts.counted, [
      'IfNotPresent true false',
      'Always undefined true',
      'pulled 1000000 0',
      'Never false undefined',
    ])
  })

  test('pulls with policy Always without a check', async () => {
    fake.images.add('web:1')
    await makePuller().ensure(makeRequest('web:1', { policy: 'Always' }), never)
    assert.deepEqual(
      fake.called.map(({ method }) => method),
      ['pullImage', 'imageStatus'],
    )
  })

  test('does not pull with policy Never', async () => {
    const puller = makePuller()
    const message = 'Container image "web:1" is not present with pull policy of Never'
    const request = makeRequest('web:1', { policy: 'Never' })
    await assert.rejects(puller.ensure(request, never), { name: 'StartError', reason: 'ErrImageNeverPull', message })
    assert.deepEqual(pulls(), [])
    assert.deepEqual(events, [`a Warning ErrImageNeverPull ${message}`, 'a Warning Failed Error: ErrImageNeverPull'])
  })

  test('refuses a name that cannot be', async () => {
    const message =
      'Failed to apply default image tag "A b": couldn\'t parse image name "A b": invalid reference format: repository name (A b) must be lowercase'
    await assert.rejects(makePuller().ensure(makeRequest('A b'), never), { reason: 'InvalidImageName', message })
    assert.deepEqual(fake.called, [])
    assert.deepEqual(events, [`a Warning InspectFailed ${message}`, 'a Warning Failed Error: InvalidImageName'])
  })

  test('says when the runtime cannot report an image', async () => {
    fake.script.fail('imageStatus', 'Internal', 'broken')
    const message = 'Failed to inspect image "web:1": rpc error: code = Internal desc = broken'
    await assert.rejects(makePuller().ensure(makeRequest('web:1'), never), { reason: 'ImageInspectError', message })
    assert.deepEqual(events, [`a Warning InspectFailed ${message}`, 'a Warning Failed Error: ImageInspectError'])
  })

  test('fails when a pulled image is not there', async () => {
    fake.script.answer('imageStatus', {})
    await assert.rejects(makePuller().ensure(makeRequest('web:1'), never), {
      reason: 'ImageInspectError',
      message: 'Failed to inspect image "web:1": it is not on the node although it was pulled',
    })
  })

  test('backs off after a failure, longer each time, and recovers', async () => {
    fake.script.fail('pullImage', 'Unknown', 'RegistryUnavailable: 503')
    const puller = makePuller()
    const attempt = () =>
      puller.ensure(makeRequest('web:1'), never).then(
        () => 'there',
        (error: { reason: string }) => error.reason,
      )
    const seen: [number, string][] = []
    for (const ms of [0, 9999, 1, 19_999, 1, 39_999]) {
      await clock.advance(ms)
      seen.push([ms, await attempt()])
    }
    assert.deepEqual(seen, [
      [0, 'RegistryUnavailable'],
      [9999, 'ImagePullBackOff'],
      [1, 'RegistryUnavailable'],
      [19_999, 'ImagePullBackOff'],
      [1, 'RegistryUnavailable'],
      [39_999, 'ImagePullBackOff'],
    ])
    assert.deepEqual(events.slice(0, 5), [
      'a Normal Pulling Pulling image "web:1"',
      'a Warning Failed Failed to pull image "web:1": image pull failed for web:1 because the registry is unavailable: 503',
      'a Warning Failed Error: RegistryUnavailable',
      'a Normal BackOff Back-off pulling image "web:1"',
      'a Warning Failed Error: ImagePullBackOff',
    ])
    await assert.rejects(puller.ensure(makeRequest('web:1'), never), {
      message:
        'Back-off pulling image "web:1": RegistryUnavailable: image pull failed for web:1 because the registry is unavailable: 503',
    })
    fake.script.heal('pullImage')
    await clock.advance(1)
    assert.equal(await attempt(), 'there')
  })

  test('keeps the back-off of a pod to itself and forgets it with the pod', async () => {
    fake.script.fail('pullImage', 'NotFound', 'no such tag', 1)
    const puller = makePuller()
    await assert.rejects(puller.ensure(makeRequest('web:1', { policy: 'Always' }), never), { reason: 'ErrImagePull' })
    await puller.ensure(makeRequest('web:1', { policy: 'Always', uid: 'b' }), never)
    await assert.rejects(puller.ensure(makeRequest('web:1', { policy: 'Always' }), never), {
      reason: 'ImagePullBackOff',
    })
    puller.forget(parsePodUid('a'))
    await puller.ensure(makeRequest('web:1', { policy: 'Always' }), never)
  })

  test('pulls once for ten pods, and its failure counts once for each', async () => {
    const release = fake.script.hold('pullImage')
    fake.script.fail('pullImage', 'Unknown', 'no', 1)
    const puller = makePuller()
    // Two containers of each pod.
    const requests = Array.from({ length: 20 }, (_, index) => makeRequest('web:1', { uid: `p${index % 10}` }))
    const all = Promise.allSettled(requests.map((request) => puller.ensure(request, never)))
    await until(() => events.length === 20)
    release()
    const reasons = (await all).map((result) => (result.status === 'rejected' ? result.reason.reason : 'there'))
    assert.deepEqual(new Set(reasons), new Set(['ErrImagePull']))
    await clock.advance(10_000)
    await Promise.all(requests.map((request) => puller.ensure(request, never)))
    assert.deepEqual(pulls(), ['web:1', 'web:1'])
  })

  test('goes on while a pod waits, and stops with the last', async () => {
    fake.script.delay('pullImage', 1000)
    const puller = makePuller()
    const waiters = ['a', 'b', 'c'].map((uid) => {
      const controller = new AbortController()
      return { controller, result: puller.ensure(makeRequest('web:1', { uid }), controller.signal) }
    })
    await until(() => events.length === 3 && runtimeClock.sleeping === 1)
    const callsUnderWay: number[] = []
    for (const [index, { controller, result }] of waiters.entries()) {
      const reason = new Error(`enough ${index}`)
      controller.abort(reason)
      await assert.rejects(result, (error) => error === reason)
      for (let turn = 0; turn < 20; turn += 1) await setImmediate()
      callsUnderWay.push(runtimeClock.sleeping)
      assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
    }
    assert.deepEqual(callsUnderWay.slice(0, 2), [1, 1])
    await until(() => runtimeClock.sleeping === 0)
    const next = puller.ensure(makeRequest('web:1', { uid: 'd' }), never)
    await until(() => runtimeClock.sleeping === 1)
    await runtimeClock.advance(1000)
    await next
    assert.equal(events.filter((text) => text.includes('Failed')).length, 0)
  })

  test('a pod that leaves does not hurt the others', async () => {
    const release = fake.script.hold('pullImage')
    const puller = makePuller()
    const first = new AbortController()
    const gone = assert.rejects(puller.ensure(makeRequest('web:1'), first.signal), /enough/)
    const other = puller.ensure(makeRequest('web:1', { uid: 'b' }), never)
    await until(() => events.length === 2 && pulls().length === 1)
    first.abort(new Error('enough'))
    await gone
    release()
    await other
    assert.deepEqual(pulls(), ['web:1'])
  })

  test('runs as many pulls as may, the important first', async () => {
    const release = fake.script.hold('pullImage')
    const puller = makePuller({ maxParallel: 1 })
    const names = ['a:1', 'b:1', 'c:1']
    const all: Promise<unknown>[] = []
    for (const [index, name] of names.entries()) {
      all.push(puller.ensure(makeRequest(name, { priority: index, policy: 'Always' }), never))
      await until(() => events.length === index + 1)
    }
    await until(() => pulls().length === 1)
    await clock.advance(2000)
    assert.deepEqual(pulls(), ['a:1'])
    release()
    await Promise.all(all)
    assert.deepEqual(pulls(), ['a:1', 'c:1', 'b:1'])
    assert.equal(
      events.at(-1),
      'a Normal Pulled Successfully pulled image "b:1" in 0s (2s including waiting). Image size: 1000000 bytes.',
    )
  })

  test('fails pulls beyond the rate at once', async () => {
    const puller = makePuller({ perSecond: 1, burst: 2 })
    const attempt = (image: string) =>
      puller.ensure(makeRequest(image), never).then(
        () => 'there',
        (error: Error & { reason: string }) => `${error.reason} ${error.message}`,
      )
    const seen = [await attempt('a:1'), await attempt('b:1'), await attempt('c:1')]
    assert.deepEqual(seen, ['there', 'there', 'ErrImagePull pull QPS exceeded'])
    await clock.advance(10_000)
    assert.equal(await attempt('c:1'), 'there')
  })
})

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate()
}
