import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import { KubeApiError, KubeUnreachableError } from '../../protocols/kube-api/kube-client.ts'
import type { KubeRequest } from '../../protocols/kube-api/kube-client.ts'
import { CONFIG_HASH_ANNOTATION, CONFIG_MIRROR_ANNOTATION } from '../../model/pod/pod.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import { MirrorPods } from './mirror-pods.ts'

const exists = () => new KubeApiError('exists', { code: 409, reason: 'AlreadyExists' })
const gone = () => new KubeApiError('not found', { code: 404, reason: 'NotFound' })

function mirrorOf(hash: string | undefined, uid = 'm-1') {
  const annotations = hash === undefined ? {} : { [CONFIG_MIRROR_ANNOTATION]: hash }
  return createPod({ metadata: { uid, annotations } })
}

function setUp(answer: (request: KubeRequest) => unknown) {
  const clock = new FakeClock()
  const sent: string[] = []
  const world = { node: { metadata: { name: 'node-1', uid: 'n' } } as Node | undefined }
  const pod = createPod({ metadata: { uid: 'a', annotations: { [CONFIG_HASH_ANNOTATION]: 'a' } } })
  const mirrors = new MirrorPods({
    client: {
      async send<T>(request: KubeRequest): Promise<T> {
        sent.push(request.method)
        const value = answer(request)
        if (value instanceof Error) throw value
        return JSON.parse(JSON.stringify(value)) as T
      },
    },
    node: () => world.node,
    staticPods: () => [{ pod, isDesired: true }],
    allSeen: () => true,
    clock,
    random: () => 0,
    log: silentLogger,
  })
  const stop = new AbortController()
  const running = mirrors.run(stop.signal).catch(() => {})
  return {
    clock,
    sent,
    world,
    mirrors,
    end: async () => {
      stop.abort(new ShutdownError('test ends'))
      await running
      assert.equal(clock.sleeping, 0)
    },
  }
}

describe('MirrorPods', () => {
  test('tries again at once when the API has answered another, unless it was rejected', async () => {
    for (const [error, tries] of [
      [new KubeUnreachableError('away'), 1],
      [new KubeApiError('no', { code: 403, reason: 'Forbidden' }), 0],
    ] as const) {
      const { clock, sent, mirrors, end } = setUp(() => error)
      mirrors.see([])
      await clock.advance(200_000)
      const before = sent.length
      for (let turn = 0; turn < 10; turn += 1) {
        mirrors.apiAnswers()
        await clock.advance(1)
      }
      assert.equal(sent.length - before, tries, error.message)
      await end()
    }
  })

  test('waits for the list of the API and for the Node', async () => {
    const { clock, sent, world, mirrors, end } = setUp(() => mirrorOf('a'))
    world.node = { metadata: { name: 'node-1', uid: 'n', deletionTimestamp: '2026-01-01T00:00:00Z' } }
    await clock.advance(20_000)
    mirrors.see([])
    await clock.advance(20_000)
    assert.deepEqual(sent, [])
    world.node = { metadata: { name: 'node-1', uid: 'n' } }
    mirrors.wake()
    await clock.advance(60_000)
    assert.deepEqual(sent, ['POST'], 'once, although the watch does not report it')
    await end()
  })

  test('is content with one that is there already', async () => {
    const { clock, sent, mirrors, end } = setUp(({ method }) => (method === 'POST' ? exists() : mirrorOf('a')))
    mirrors.see([])
    await clock.advance(60_000)
    assert.deepEqual(sent, ['POST', 'GET'])
    await end()
  })

  test('puts another in the place of one that is there already and shows something else', async () => {
    let isThere = true
    const { clock, sent, mirrors, end } = setUp(({ method }) => {
      if (method === 'DELETE') isThere = false
      if (method === 'POST') return isThere ? exists() : mirrorOf('a', 'm-2')
      return mirrorOf('old')
    })
    mirrors.see([])
    await clock.advance(1000)
    assert.deepEqual(sent, ['POST', 'GET', 'DELETE', 'POST'])
    await end()
  })

  test('removes no pod that only has the name', async () => {
    const { clock, sent, mirrors, end } = setUp(({ method }) => (method === 'POST' ? exists() : mirrorOf(undefined)))
    mirrors.see([])
    await clock.advance(5000)
    assert.ok(sent.length > 2 && !sent.includes('DELETE'), sent.join(' '))
    await end()
  })

  test('takes one for removed that is gone', async () => {
    const { clock, sent, mirrors, end } = setUp(({ method }) => (method === 'DELETE' ? gone() : mirrorOf('a', 'm-2')))
    mirrors.see([mirrorOf('old')])
    await clock.advance(1000)
    assert.deepEqual(sent, ['DELETE', 'POST'])
    await end()
  })

  test('tries ever more seldom what fails', async () => {
    const { clock, sent, mirrors, end } = setUp(() => new Error('no'))
    mirrors.see([])
    await clock.advance(3_600_000)
    assert.ok(sent.length > 10 && sent.length < 25, `${sent.length} tries in an hour`)
    await end()
  })
})
