import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import { KubeApiError, KubeUnreachableError } from '../../protocols/kube-api/kube-client.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { CsiNode, DriverInfo } from './csi-node-object.ts'
import { CsiNodeObjects } from './csi-node-objects.ts'

const never = new AbortController().signal
const away = () => new KubeUnreachableError('away')
const forbidden = () => new KubeApiError('no such right', { code: 403, reason: 'Forbidden' })
const KEY = 'csi.volume.kubernetes.io/nodeid'
const info = (change: Partial<DriverInfo> = {}): DriverInfo => ({
  nodeId: 'n',
  maxVolumes: 0n,
  topology: {},
  ...change,
})

/** One node and its CSINode, which can be unreachable or reject requests. */
class FakeCsiNodeApi {
  readonly calls: string[] = []
  node: Node | undefined = { metadata: { name: 'node-1', uid: 'u-1' } }
  csiNode: CsiNode | undefined
  failure: ((call: string) => Error | undefined) | undefined

  getNode = async () => this.#call('get node', () => this.node)
  getCsiNode = async () => this.#call('get', () => this.csiNode)
  createCsiNode = async (object: CsiNode) => this.#call('create', () => (this.csiNode = object))
  replaceCsiNode = async (object: CsiNode) => this.#call('replace', () => (this.csiNode = object))
  deleteCsiNode = async () => this.#call('delete', () => void (this.csiNode = undefined))
  patchNode = async ({ metadata }: { readonly metadata: Readonly<Record<string, object>> }) =>
    this.#call('patch', () => {
      const before = this.node?.metadata ?? {}
      const merge = (name: 'annotations' | 'labels') => {
        const merged = Object.entries({ ...before[name], ...metadata[name] })
        return { [name]: Object.fromEntries(merged.filter(([, value]) => value !== null)) as Record<string, string> }
      }
      return (this.node = { metadata: { ...before, ...merge('annotations'), ...merge('labels') } })
    })

  get written(): readonly string[] {
    return this.calls.filter((call) => !call.startsWith('get'))
  }

  get drivers(): readonly string[] {
    return (this.csiNode?.spec.drivers ?? []).map(({ name }) => name)
  }

  get ids(): string | undefined {
    return this.node?.metadata?.annotations?.[KEY]
  }

  #call<T>(name: string, answer: () => T): T {
    this.calls.push(name)
    const failure = this.failure?.(name)
    if (failure !== undefined) throw failure
    return answer()
  }
}

function setUp(t: TestContext, change: (api: FakeCsiNodeApi) => void = () => {}) {
  const api = new FakeCsiNodeApi()
  change(api)
  const clock = new FakeClock()
  const ends: string[] = []
  let changes = 0
  const objects = new CsiNodeObjects({
    api,
    nodeName: 'node-1',
    onChange: () => void (changes += 1),
    giveUp: (error) => void ends.push(error.message),
    clock,
    random: () => 0,
    log: silentLogger,
  })
  const stop = new AbortController()
  const running = objects.run(stop.signal).catch((error: unknown) => {
    if (error !== stop.signal.reason) throw error
  })
  t.after(async () => {
    stop.abort(new ShutdownError())
    await running
    assert.equal(clock.sleeping, 0)
  })
  return { api, clock, objects, ends, changes: () => changes }
}

describe('CsiNodeObjects', () => {
  test('the node is not ready before its CSINode is made, and is reported when it is', async (t) => {
    const { api, clock, objects, changes } = setUp(t)
    assert.deepEqual(objects.problems(), ['CSINode is not yet initialized'])
    await objects.firstCheck(never)
    await clock.advance(0)
    assert.deepEqual([objects.problems(), changes(), api.written], [[], 1, ['create']])
    assert.deepEqual(api.csiNode?.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u-1' },
    ])
  })

  test('writes nothing when all is there from before', async (t) => {
    const first = setUp(t)
    await first.clock.advance(0)
    const { api, clock, objects } = setUp(t, (next) => Object.assign(next, { csiNode: first.api.csiNode }))
    await clock.advance(0)
    assert.deepEqual([objects.problems(), api.written], [[], []])
  })

  test('makes it again when it belongs to an earlier node of this name', async (t) => {
    const { api, clock } = setUp(t, (next) => {
      next.csiNode = { metadata: { name: 'node-1' }, spec: { drivers: [{ name: 'old', nodeID: 'o' }] } }
    })
    await clock.advance(0)
    assert.deepEqual([api.written, api.drivers], [['delete', 'create'], []])
  })

  test('waits for an API that is away, for as long as that takes', async (t) => {
    const { api, clock, objects, ends } = setUp(t, (next) => (next.failure = away))
    await objects.firstCheck(never)
    await clock.advance(600_000)
    assert.deepEqual([objects.problems(), ends], [['CSINode is not yet initialized'], []])
    api.failure = undefined
    await clock.advance(1000)
    assert.deepEqual(objects.problems(), [])
  })

  test('waits for the Node, and comes with it', async (t) => {
    const { api, clock, objects, ends } = setUp(t, (next) => (next.node = undefined))
    await clock.advance(600_000)
    assert.deepEqual([objects.problems(), api.written, ends], [['CSINode is not yet initialized'], [], []])
    api.node = { metadata: { name: 'node-1', uid: 'u-2' } }
    objects.nodeSeen(api.node)
    await clock.advance(0)
    assert.deepEqual([objects.problems(), api.written], [[], ['create']])
  })

  test('says why it cannot be made, and ends the agent after the sixth rejection', async (t) => {
    const { api, clock, objects, ends } = setUp(t, (next) => {
      next.failure = (call) => (call === 'create' ? forbidden() : undefined)
    })
    await clock.advance(500)
    assert.deepEqual(objects.problems(), ['failed to initialize CSINode: no such right'])
    await clock.advance(140_000)
    assert.deepEqual(ends, [])
    await clock.advance(5000)
    assert.deepEqual(ends, ['Cannot initialize the CSINode: rejected 6 times'])
    assert.equal(api.written.length, 24)
  })

  test('no caller waits long for the first check', async (t) => {
    const answer = Promise.withResolvers<undefined>()
    const { clock, objects } = setUp(t, (next) => (next.getNode = () => answer.promise))
    let isDone = false
    const checked = objects.firstCheck(never).then(() => (isDone = true))
    await clock.advance(999)
    assert.equal(isDone, false)
    await clock.advance(1)
    await checked
    answer.resolve(undefined)
    await clock.advance(0)
  })

  test('reports a driver, first on the Node, and removes it there last', async (t) => {
    const { api, clock, objects } = setUp(t)
    await clock.advance(0)
    await objects.install('a', info({ topology: { zone: 'x' } }), never)
    assert.deepEqual([api.written, api.drivers, api.ids], [['create', 'patch', 'replace'], ['a'], '{"a":"n"}'])
    assert.deepEqual(api.node?.metadata?.labels, { zone: 'x' })
    objects.uninstall('a')
    await clock.advance(0)
    assert.deepEqual(api.written.slice(3), ['replace', 'patch'])
    assert.deepEqual([api.drivers, api.ids], [[], undefined])
    assert.deepEqual(api.node?.metadata?.labels, { zone: 'x' })
  })

  test('a driver that comes again at once never seems gone', async (t) => {
    const { api, clock, objects } = setUp(t)
    await clock.advance(0)
    await objects.install('a', info(), never)
    const before = api.written.length
    objects.uninstall('a')
    await objects.install('a', info(), never)
    await clock.advance(0)
    assert.deepEqual([api.written.length, api.drivers], [before, ['a']])
  })

  test('tries again when another client wrote at the same moment', async (t) => {
    const { api, clock, objects } = setUp(t)
    await clock.advance(0)
    let conflicts = 3
    api.failure = (call) => {
      if (call !== 'replace' || conflicts === 0) return undefined
      conflicts -= 1
      return new KubeApiError('changed', { code: 409, reason: 'Conflict' })
    }
    const installing = objects.install('a', info(), never)
    await clock.advance(310)
    await installing
    assert.deepEqual(api.drivers, ['a'])
  })

  test('fails when the API rejects a driver, and leaves nothing of it', async (t) => {
    const { api, clock, objects } = setUp(t)
    await clock.advance(0)
    api.failure = (call) => (call === 'replace' ? forbidden() : undefined)
    const installing = assert.rejects(objects.install('a', info(), never), { message: 'no such right' })
    await clock.advance(310)
    await installing
    assert.deepEqual([api.ids, objects.current('a')], [undefined, undefined])
  })

  test('fails when the driver says that the node is elsewhere', async (t) => {
    const { api, clock, objects } = setUp(t, (next) => {
      next.node = { metadata: { name: 'node-1', uid: 'u-1', labels: { zone: 'x' } } }
    })
    await clock.advance(0)
    await assert.rejects(objects.install('a', info({ topology: { zone: 'y' } }), never), {
      message:
        'Cannot report the topology of the node: the driver says "zone" is "y", and the label of the node says "x"',
    })
    await clock.advance(0)
    assert.deepEqual([api.drivers, api.ids], [[], undefined])
  })

  test('a driver that comes or goes while the API is away is reported when that is back', async (t) => {
    const { api, clock, objects } = setUp(t)
    await clock.advance(0)
    await objects.install('a', info(), never)
    api.failure = away
    await objects.install('b', info({ nodeId: 'm' }), never)
    objects.uninstall('a')
    await clock.advance(100_000)
    assert.deepEqual([api.drivers, objects.problems()], [['a'], []])
    api.failure = undefined
    await clock.advance(30_000)
    assert.deepEqual([api.drivers, api.ids], [['b'], '{"b":"m"}'])
  })

  test('reports all drivers again for a Node that was made again', async (t) => {
    const { api, clock, objects } = setUp(t)
    await clock.advance(0)
    await objects.install('a', info(), never)
    const before = api.calls.length
    objects.nodeSeen(api.node)
    await clock.advance(0)
    assert.equal(api.calls.length, before)
    api.node = { metadata: { name: 'node-1', uid: 'u-2' } }
    objects.nodeSeen(api.node)
    await clock.advance(0)
    assert.deepEqual([api.drivers, api.ids], [['a'], '{"a":"n"}'])
    assert.equal(api.csiNode?.metadata.ownerReferences?.[0]?.uid, 'u-2')
  })
})
