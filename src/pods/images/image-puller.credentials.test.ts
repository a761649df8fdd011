import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { openImages } from '../../../test/fakes/open-images.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { Download } from '../../protocols/cri/containerd/containerd-downloads.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import { Image, PodSandboxConfig } from '../../protocols/cri/generated/runtime-v1.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { Credential } from './credentials/credential.ts'
import { ImagePuller } from './image-puller.ts'
import type { ImagePullerDeps } from './image-puller.ts'

const never = new AbortController().signal
const sandbox = PodSandboxConfig.fromPartial({})
const credential = (username: string, secretName?: string): Credential => ({
  login: { username, password: 'hush' },
  secret: secretName === undefined ? undefined : { uid: 'u', namespace: 'default', name: secretName },
})

function makeRequest(uid = 'a', policy = 'Always') {
  const container = { name: 'web', image: 'r.example/web:1', imagePullPolicy: policy }
  const pod: Pod = {
    metadata: { name: 'web', namespace: 'default', uid: parsePodUid(uid) },
    spec: { containers: [container] },
  }
  return { pod, podContainer: { kind: 'regular' as const, container }, sandbox }
}

describe('ImagePuller with credentials', () => {
  let clock: FakeClock
  let events: string[]
  let logged: unknown[]
  let pulls: (string | undefined)[]
  let refused: Record<string, string>
  let account: unknown[]
  let gate: Promise<void>

  beforeEach(() => {
    clock = new FakeClock()
    events = []
    logged = []
    pulls = []
    refused = {}
    account = []
    gate = Promise.resolve()
  })

  function makePuller(deps: Partial<ImagePullerDeps> = {}) {
    const access = {
      mayUse: async () => true,
      begin: async (image: string) => void account.push(['begin', image]),
      succeed: async ({ ref }: { ref: string }, used: Credential | undefined) =>
        void account.push(['succeed', ref, used?.login.username, used?.secret?.name]),
      fail: async (image: string) => void account.push(['fail', image]),
    }
    return new ImagePuller({
      ...openImages,
      calls: {
        imageStatus: async () => ({ image: Image.fromPartial({ id: 'sha256:x', size: 5n }), info: {} }),
        pullImage: async ({ auth }) => {
          const username = auth?.username
          pulls.push(username)
          await gate
          const detail = refused[username ?? 'nobody']
          if (detail !== undefined) throw new CriCallError('pullImage', 'Unknown', detail)
          return { imageRef: 'sha256:x' }
        },
      },
      access,
      events: { record: (pod, { reason, message }) => void events.push(`${pod.metadata.uid} ${reason} ${message}`) },
      limits: { maxParallel: Infinity, perSecond: 0, burst: 1 },
      clock,
      log: { ...silentLogger, info: (...line: unknown[]) => void logged.push(line) },
      ...deps,
    })
  }

  const having = (...candidates: Credential[]) => ({ find: async () => ({ candidates, missingSecrets: [] }) })

  test('tries one login after the other until one works', async () => {
    refused = { first: 'denied' }
    const credentials = having(credential('first'), credential('second', 's'), credential('third'))
    await makePuller({ credentials }).ensure(makeRequest(), never)
    assert.deepEqual(pulls, ['first', 'second'])
    assert.deepEqual(account, [
      ['begin', 'r.example/web:1'],
      ['succeed', 'sha256:x', 'second', 's'],
    ])
  })

  test('pulls without a login only when there is none', async () => {
    await makePuller().ensure(makeRequest(), never)
    assert.deepEqual(pulls, [undefined])
    pulls = []
    refused = { only: 'denied' }
    const only = makePuller({ credentials: having(credential('only')) })
    await assert.rejects(only.ensure(makeRequest(), never), { reason: 'ErrImagePull', message: 'denied' })
    assert.deepEqual([pulls, account.at(-1)], [['only'], ['fail', 'r.example/web:1']])
  })

  test('fails with what every login met, said once each', async () => {
    refused = { a: 'denied', b: 'denied', c: 'RegistryUnavailable: 503' }
    const puller = makePuller({ credentials: having(credential('a'), credential('b'), credential('c')) })
    await assert.rejects(puller.ensure(makeRequest(), never), {
      reason: 'ErrImagePull',
      message: '[denied, image pull failed for r.example/web:1 because the registry is unavailable: 503]',
    })
    assert.ok(!events.join().includes('hush'))
  })

  test('shares a pull among pods with the same logins for the same service account, and only those', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    const robot = { uid: 'sa', namespace: 'default', name: 'robot' }
    const logins: Record<string, Credential[]> = {
      a: [credential('one', 's')],
      b: [credential('one', 'copy')],
      c: [credential('two')],
      d: [],
      e: [{ ...credential('one'), account: robot }],
      f: [{ ...credential('one'), account: robot }],
    }
    const puller = makePuller({
      credentials: { find: async ({ metadata }) => ({ candidates: logins[metadata.uid] ?? [], missingSecrets: [] }) },
    })
    const all = Object.keys(logins).map((uid) => puller.ensure(makeRequest(uid), never))
    while (events.length < 6) await setImmediate()
    for (let turn = 0; turn < 5; turn += 1) await setImmediate()
    resolve()
    await Promise.all(all)
    assert.deepEqual(pulls, ['one', 'two', undefined, 'one'])
  })

  test('does not pull when the begin of it cannot be noted', async () => {
    const begin = () => Promise.reject(new Error('disk is full'))
    const puller = makePuller({ access: { ...openImages.access, begin } })
    await assert.rejects(puller.ensure(makeRequest(), never), {
      reason: 'ErrImagePull',
      message: 'Cannot note the pull of image "r.example/web:1": disk is full',
    })
    assert.deepEqual(pulls, [])
  })

  test('pulls an image that is there again when the pod may not use it, or refuses', async () => {
    const puller = makePuller({ access: { ...openImages.access, mayUse: async () => false } })
    await puller.ensure(makeRequest('a', 'IfNotPresent'), never)
    assert.equal(pulls.length, 1)
    await assert.rejects(puller.ensure(makeRequest('a', 'Never'), never), {
      reason: 'ErrImageNeverPull',
      message: 'Container image "r.example/web:1" is not present with pull policy of Never',
    })
    assert.equal(pulls.length, 1)
  })

  test('reads credentials only when something depends on them', async () => {
    const credentials = { find: () => assert.fail('asked') }
    await makePuller({ credentials }).ensure(makeRequest('a', 'IfNotPresent'), never)
    assert.deepEqual(pulls, [])
  })

  test('reports which pull secrets are missing, once, and again when others are', async () => {
    let missingSecrets = ['one', 'two']
    const puller = makePuller({ credentials: { find: async () => ({ candidates: [], missingSecrets }) } })
    const reported = async () => {
      events = []
      await puller.ensure(makeRequest(), never)
      return events.filter((text) => text.includes('Secret'))
    }
    const text = (names: string) =>
      `a FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (${names}); attempting to pull the image may not succeed.`
    assert.deepEqual(await reported(), [text('one, two')])
    assert.deepEqual(await reported(), [])
    missingSecrets = ['two']
    assert.deepEqual(await reported(), [text('two')])
    missingSecrets = []
    assert.deepEqual(await reported(), [])
    assert.equal(pulls.length, 4)
  })

  test('reports which image a container is about to have', async () => {
    const refs: string[] = []
    const puller = makePuller({ onImage: (ref) => void refs.push(ref) })
    await puller.ensure(makeRequest(), never)
    await puller.ensure(makeRequest('a', 'IfNotPresent'), never)
    assert.deepEqual(refs, ['sha256:x', 'sha256:x'])
  })

  test('reports a long pull: often in the log, once to each pod', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    const mebibyte = 2 ** 20
    const startedAt = clock.now()
    const looks: Download[][] = [
      [{ ref: 'layer', startedAt, doneBytes: mebibyte, totalBytes: 4 * mebibyte }],
      [{ ref: 'layer', startedAt, doneBytes: 2 * mebibyte, totalBytes: 4 * mebibyte }],
    ]
    const puller = makePuller({ downloads: async () => looks.shift() ?? [] })
    const first = puller.ensure(makeRequest('a'), never)
    await clock.advance(15_000)
    const second = puller.ensure(makeRequest('b'), never)
    await clock.advance(30_000)
    resolve()
    await Promise.all([first, second])
    const progress = { image: 'r.example/web:1', stage: 'pulling' }
    assert.deepEqual(logged, [
      [
        'image not there yet',
        { ...progress, elapsedSeconds: 15, waiters: 1, doneBytes: mebibyte, totalBytes: 4 * mebibyte },
      ],
      [
        'image not there yet',
        { ...progress, elapsedSeconds: 30, waiters: 2, doneBytes: 2 * mebibyte, totalBytes: 4 * mebibyte },
      ],
      [
        'image not there yet',
        { ...progress, elapsedSeconds: 45, waiters: 2, doneBytes: 4 * mebibyte, totalBytes: 4 * mebibyte },
      ],
    ])
    const still = 'PullProgress Still pulling image "r.example/web:1" after'
    assert.deepEqual(
      events.filter((text) => text.includes('Still')),
      [`a ${still} 15s: 1.0 of 4.0 MiB downloaded so far`, `b ${still} 30s: 2.0 of 4.0 MiB downloaded so far`],
    )
    assert.equal(clock.sleeping, 0)
  })

  test('reports the time alone where the runtime reports no bytes, or does not answer', async () => {
    for (const downloads of [() => Promise.reject(new Error('unimplemented')), () => new Promise<never>(() => {})]) {
      events = []
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      const image = makePuller({ downloads }).ensure(makeRequest(), never)
      await clock.advance(20_000)
      resolve()
      await image
      assert.equal(events[1], 'a PullProgress Still pulling image "r.example/web:1" after 15s')
    }
  })
})
