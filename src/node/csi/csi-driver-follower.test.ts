import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import { KubeApiError } from '../../protocols/kube-api/kube-client.ts'
import type { KubeRequest } from '../../protocols/kube-api/kube-client.ts'
import { CsiDriverFollower } from './csi-driver-follower.ts'
import type { CsiDriverFollowerDeps } from './csi-driver-follower.ts'
import { noCsiDriverObjects } from '../../protocols/csi/csi-driver-objects.ts'

const never = new AbortController().signal
const defaults = {
  attachRequired: true,
  podInfoOnMount: false,
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
  lifecycleModes: ['Persistent'],
  requiresRepublish: false,
  tokenRequests: [],
  tokensInSecrets: false,
  seLinuxMount: false,
  allocatableUpdateSeconds: undefined,
}

function setUp(t: TestContext, answer: (request: KubeRequest) => unknown = () => assert.fail('nothing is asked')) {
  type Followed = Parameters<CsiDriverFollowerDeps['follow']>[0]
  const followed: Followed[] = []
  let changes = 0
  const follower = new CsiDriverFollower({
    client: { send: async <T>(request: KubeRequest) => answer(request) as T },
    follow: async (objects, signal) => {
      followed.push(objects)
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    },
    nodeName: 'node-1',
    onChange: () => void (changes += 1),
  })
  const stop = new AbortController()
  const running = follower.run(stop.signal).catch((error: unknown) => {
    if (error !== stop.signal.reason) throw error
  })
  t.after(async () => {
    stop.abort(new ShutdownError())
    await running
  })
  return { follower, followed, changes: () => changes }
}

const driver = (name: string, spec: object) => ({ metadata: { name }, spec })

describe('CsiDriverFollower', () => {
  test('asks nothing of the API before the first request', async (t) => {
    const { follower, followed } = setUp(t)
    await Promise.resolve()
    assert.deepEqual(followed, [])
    assert.equal(follower.peek('disk'), undefined)
    await Promise.resolve()
    await new Promise(setImmediate)
    assert.deepEqual(
      followed.map(({ path }) => path),
      ['/apis/storage.k8s.io/v1/csidrivers'],
    )
  })

  test('an answer waits for the first list, and follows the object from then on', async (t) => {
    const { follower, followed, changes } = setUp(t)
    const finding = follower.find('disk', never)
    await new Promise(setImmediate)
    const [objects] = followed
    objects?.onReplace([driver('disk', { attachRequired: false }), driver('tape', { podInfoOnMount: true })])
    assert.deepEqual(await finding, { ...defaults, attachRequired: false })
    const full = {
      attachRequired: false,
      podInfoOnMount: true,
      fsGroupPolicy: 'File',
      volumeLifecycleModes: ['Ephemeral'],
      requiresRepublish: true,
      tokenRequests: [{}, { audience: 'vault', expirationSeconds: 600 }],
      serviceAccountTokenInSecrets: true,
      seLinuxMount: true,
      nodeAllocatableUpdatePeriodSeconds: 60,
    }
    objects?.onEvent({ type: 'MODIFIED', object: driver('disk', full) })
    assert.deepEqual(follower.peek('disk'), {
      attachRequired: false,
      podInfoOnMount: true,
      fsGroupPolicy: 'File',
      lifecycleModes: ['Ephemeral'],
      requiresRepublish: true,
      tokenRequests: [
        { audience: '', expirationSeconds: undefined },
        { audience: 'vault', expirationSeconds: 600 },
      ],
      tokensInSecrets: true,
      seLinuxMount: true,
      allocatableUpdateSeconds: 60,
    })
    objects?.onEvent({ type: 'DELETED', object: driver('disk', full) })
    assert.deepEqual(await follower.find('disk', never), defaults)
    assert.equal(changes(), 3)
  })

  test('who waits no longer is let go', async (t) => {
    const { follower } = setUp(t)
    const stop = new AbortController()
    const finding = assert.rejects(follower.find('disk', stop.signal), ShutdownError)
    stop.abort(new ShutdownError())
    await finding
  })

  test('finds the attachment of a volume under the name that its controller gave it', async (t) => {
    const asked: string[] = []
    const status: { value?: object } = {}
    const { follower } = setUp(t, ({ method, path }) => {
      asked.push(`${method} ${path}`)
      return { metadata: { name: 'x' }, ...(status.value && { status: status.value }) }
    })
    // sha256 of "vol-1disk.example.comnode-1".
    const name = 'csi-19c42f43d69fa1f381555c6802be2757a07267e9705a867fd59297bc87dd0694'
    const find = () => follower.findAttachment('disk.example.com', 'vol-1', never)
    const none = { name, isAttached: false, metadata: {}, error: undefined, isExhausted: false }
    assert.deepEqual(await find(), none)
    status.value = { attached: true, attachmentMetadata: { lun: '1' } }
    assert.deepEqual(await find(), { ...none, isAttached: true, metadata: { lun: '1' } })
    status.value = { attached: false, attachError: { message: 'full', errorCode: 8 } }
    assert.deepEqual(await find(), { ...none, error: 'full', isExhausted: true })
    assert.deepEqual(new Set(asked), new Set([`GET /apis/storage.k8s.io/v1/volumeattachments/${name}`]))
  })

  test('distinguishes a missing attachment from one that may not be read', async (t) => {
    const refusals = [
      new KubeApiError('none', { code: 404, reason: 'NotFound' }),
      new KubeApiError('no', { code: 403, reason: 'Forbidden' }),
    ]
    const { follower } = setUp(t, () => {
      throw refusals.shift()
    })
    assert.equal(await follower.findAttachment('disk', 'v', never), undefined)
    await assert.rejects(follower.findAttachment('disk', 'v', never), { reason: 'Forbidden' })
  })
})

test('without an API every driver has the defaults, and nothing is attached', async () => {
  assert.deepEqual(await noCsiDriverObjects.find('disk', never), defaults)
  assert.equal(await noCsiDriverObjects.findAttachment('disk', 'v', never), undefined)
})
