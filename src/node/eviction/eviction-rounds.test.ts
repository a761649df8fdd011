import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { createStatsSnapshot } from '../../../test/builders/create-stats-snapshot.ts'
import type { NodeUse } from '../../../test/builders/create-stats-snapshot.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { PodSpec } from '../../model/generated/core-v1.ts'
import { CONFIG_SOURCE_ANNOTATION } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { EvictionRounds } from './eviction-rounds.ts'
import type { EvictionRoundsDeps } from './eviction-rounds.ts'
import { NodePressure } from './node-pressure.ts'
import { parseThresholds } from './parse-thresholds.ts'

const { signal } = new AbortController()
const LIMITED: Partial<PodSpec> = { volumes: [{ name: 'data', emptyDir: { sizeLimit: '10Mi' } }] }

/** A node whose pods give their room back when they go; with a journal of what was done. */
class EvictionWorld {
  readonly clock = new FakeClock()
  readonly journal: string[] = []
  readonly messages: string[] = []
  readonly pressure = new NodePressure(() => void this.journal.push('pressure changed'))
  pods: readonly Pod[] = []
  use: NodeUse = {}
  onEvict: (uid: string) => void = () => {}
  onReclaim: (what: string) => void = () => {}
  onMeasure: () => void = () => {}
  failing = ''

  /** A round, with all the time it takes. */
  async pass(rounds: EvictionRounds): Promise<boolean> {
    const passing = rounds.round(signal)
    await this.clock.advance(60_000)
    return await passing
  }

  rounds(hard: Readonly<Record<string, string>>, fields: Partial<EvictionRoundsDeps> = {}): EvictionRounds {
    const { thresholds } = parseThresholds({
      evictionHard: hard,
      evictionSoft: {},
      evictionSoftGracePeriod: {},
      evictionMinimumReclaim: {},
      enforceNodeAllocatable: [],
    })
    const act = (line: string) => {
      this.journal.push(line)
      if (this.failing !== '' && line.startsWith(this.failing)) throw new Error('no')
    }
    return new EvictionRounds({
      thresholds,
      transitionMs: 300_000,
      maxGraceSeconds: 20,
      localStorage: true,
      stats: {
        ask: async (parts) => {
          act(`ask ${parts.at(-1)}`)
          return createStatsSnapshot({ ...this.use, time: this.clock.now() - 500 })
        },
      },
      pods: {
        activePods: () => this.pods,
        evict: async (uid, { reason, message, graceSeconds, disruption }) => {
          this.messages.push(message)
          act(`evict ${uid} ${reason} ${graceSeconds} s${disruption === message ? ' disrupted' : ''}`)
          this.pods = this.pods.filter(({ metadata }) => metadata.uid !== uid)
          this.onEvict(uid)
        },
        dropRemains: async (uid) => {
          act(`drop ${uid ?? 'all'}`)
          if (uid === undefined) this.onReclaim('containers')
        },
      },
      volumes: {
        measureNow: async () => {
          act('measure volumes')
          this.onMeasure()
        },
      },
      images: {
        collectUnused: async () => {
          act('images')
          this.onReclaim('images')
        },
      },
      pressure: this.pressure,
      events: { record: ({ metadata }, { type, reason }) => act(`event ${metadata.uid} ${type} ${reason}`) },
      nodeEvents: { record: ({ reason, message }) => act(`node event ${reason}: ${message}`) },
      metrics: {
        eviction: (name) => act(`count ${name}`),
        evictionStatsAge: (name, seconds) => act(`age ${name} ${seconds}`),
      },
      clock: this.clock,
      log: silentLogger,
      ...fields,
    })
  }

  take(): readonly string[] {
    return this.journal.splice(0)
  }
}

function pod(uid: string, spec: Partial<PodSpec> = {}, source?: string): Pod {
  return createPod({
    metadata: { uid, ...(source !== undefined && { annotations: { [CONFIG_SOURCE_ANNOTATION]: source } }) },
    spec: { containers: [createContainer()], ...spec },
  })
}

describe('EvictionRounds', () => {
  test('does nothing while there is enough, and reads no pod', async () => {
    const world = new EvictionWorld()
    world.pods = [pod('a')]
    assert.equal(await world.rounds({ 'memory.available': '100Mi' }).round(signal), false)
    assert.deepEqual(world.take(), ['ask fileSystems'])
    assert.equal(await world.rounds({}).round(signal), false)
    assert.deepEqual(world.take(), [])
  })

  test('evicts one pod for memory, the one that uses the most, and takes what is left of it', async () => {
    const world = new EvictionWorld()
    world.pods = [pod('a'), pod('hog'), pod('c')]
    world.use = {
      memoryLeft: 50,
      pods: [
        { uid: 'a', memory: 10 },
        { uid: 'hog', memory: 400 },
        { uid: 'c', memory: 20 },
      ],
    }
    world.onEvict = () => void (world.use = { memoryLeft: 450 })
    const rounds = world.rounds({ 'memory.available': '100Mi' })
    assert.equal(await rounds.round(signal), true)
    assert.deepEqual(world.take(), [
      'ask fileSystems',
      'pressure changed',
      'node event EvictionThresholdMet: Attempting to reclaim memory',
      'ask disk',
      'age memory.available 0.5',
      'count memory.available',
      'event hog Warning Evicted',
      'evict hog Evicted 1 s disrupted',
      'drop hog',
    ])
    assert.deepEqual(world.pressure.current, { memory: true, disk: false, pid: false })
    assert.equal(await rounds.round(signal), false)
    assert.deepEqual(world.take(), ['ask fileSystems'])
    await world.clock.advance(300_000)
    await rounds.round(signal)
    assert.deepEqual(world.take(), ['ask fileSystems', 'pressure changed'])
  })

  test('removes what no pod needs first, and evicts no pod when that is enough', async () => {
    const world = new EvictionWorld()
    world.pods = [pod('a')]
    world.use = { diskLeft: 50, pods: [{ uid: 'a', rootfs: 400 }] }
    world.onReclaim = (what) => what === 'images' && void (world.use = { diskLeft: 300 })
    assert.equal(await world.rounds({ 'nodefs.available': '100Mi' }).round(signal), false)
    assert.deepEqual(world.take(), [
      'ask fileSystems',
      'pressure changed',
      'node event EvictionThresholdMet: Attempting to reclaim ephemeral-storage',
      'drop all',
      'images',
      'ask fileSystems',
    ])
  })

  test('evicts for the disk when that is not enough, also when it fails', async () => {
    const world = new EvictionWorld()
    world.pods = [pod('a'), pod('filler')]
    world.use = {
      diskLeft: 50,
      pods: [
        { uid: 'a', rootfs: 1 },
        { uid: 'filler', volumes: { data: 400 } },
      ],
    }
    world.failing = 'drop all'
    assert.equal(await world.pass(world.rounds({ 'nodefs.available': '100Mi' })), true)
    assert.ok(world.take().includes('evict filler Evicted 1 s disrupted'))
    assert.deepEqual(world.messages, [
      'The node was low on resource: ephemeral-storage. Threshold quantity: 100Mi, available: 50Mi. ',
    ])
  })

  test('measures volumes before it decides which pod filled the disk, and uses the last stats when that fails', async () => {
    const world = new EvictionWorld()
    const pods = (filled: number) => [
      { uid: 'a', volumes: { data: 1 } },
      { uid: 'filler', volumes: { data: filled } },
    ]
    world.pods = [pod('a'), pod('filler')]
    world.use = { diskLeft: 50, pods: pods(0) }
    world.onMeasure = () => void (world.use = { diskLeft: 50, pods: pods(400) })
    assert.equal(await world.pass(world.rounds({ 'nodefs.available': '100Mi' })), true)
    assert.ok(world.take().includes('evict filler Evicted 1 s disrupted'))
    world.use = { diskLeft: 50, pods: pods(0) }
    world.failing = 'measure volumes'
    assert.equal(await world.pass(world.rounds({ 'nodefs.available': '100Mi' })), true)
    assert.ok(world.take().includes('evict a Evicted 1 s disrupted'))
  })

  test('evicts no other pod while the space of the evicted one is not free yet', async () => {
    const world = new EvictionWorld()
    world.pods = [pod('a'), pod('filler')]
    const pods = [
      { uid: 'a', rootfs: 1 },
      { uid: 'filler', rootfs: 400 },
    ]
    world.use = { diskLeft: 50, pods }
    // The runtime says that it is gone, and a second later it is.
    world.onEvict = () =>
      void world.clock.sleep(1000, signal).then(() => (world.use = { diskLeft: 450, pods: pods.slice(0, 1) }))
    const rounds = world.rounds({ 'nodefs.available': '100Mi' })
    assert.deepEqual([await world.pass(rounds), await world.pass(rounds)], [true, false])
    assert.deepEqual(
      world.take().filter((line) => line.startsWith('evict')),
      ['evict filler Evicted 1 s disrupted'],
    )
  })

  test('waits for newer stats where no pod is seen to have filled the disk', async () => {
    const world = new EvictionWorld()
    world.pods = [pod('a'), pod('filler')]
    const use = (filled: number) => ({
      diskLeft: 50,
      pods: [
        { uid: 'a', rootfs: 2 },
        { uid: 'filler', rootfs: filled },
      ],
    })
    world.use = use(1)
    void world.clock.sleep(8000, signal).then(() => (world.use = use(400)))
    assert.equal(await world.pass(world.rounds({ 'nodefs.available': '100Mi' })), true)
    assert.ok(world.take().includes('evict filler Evicted 1 s disrupted'))
  })

  test('checks again before it evicts: a shortage that has ended is left alone', async () => {
    const world = new EvictionWorld()
    world.pods = [pod('a')]
    world.use = { memoryLeft: 50 }
    const rounds = world.rounds(
      { 'memory.available': '100Mi' },
      {
        events: { record: () => {} },
        nodeEvents: { record: () => void (world.use = { memoryLeft: 500 }) },
      },
    )
    assert.equal(await rounds.round(signal), false)
    assert.deepEqual(world.take(), ['ask fileSystems', 'pressure changed', 'ask disk'])
  })

  test('evicts no critical pod, neither for the node nor for its own limits', async () => {
    const world = new EvictionWorld()
    world.pods = [pod('manifest', LIMITED, 'file'), pod('system', { ...LIMITED, priority: 2_000_001_000 })]
    world.use = {
      memoryLeft: 1,
      pods: [
        { uid: 'manifest', memory: 400, volumes: { data: 90 } },
        { uid: 'system', memory: 400, volumes: { data: 90 } },
      ],
    }
    assert.equal(await world.rounds({ 'memory.available': '100Mi' }).round(signal), false)
    assert.deepEqual(
      world.take().filter((line) => line.startsWith('evict')),
      [],
    )
  })

  test('a soft threshold gives pods time, but not more than they want', async () => {
    const { thresholds } = parseThresholds({
      evictionHard: {},
      evictionSoft: { 'memory.available': '100Mi' },
      evictionSoftGracePeriod: { 'memory.available': '15s' },
      evictionMinimumReclaim: {},
      enforceNodeAllocatable: [],
    })
    for (const [own, expected] of [
      [5, 5],
      [90, 20],
    ]) {
      const world = new EvictionWorld()
      world.pods = [pod('a', { terminationGracePeriodSeconds: own ?? 0 })]
      world.use = { memoryLeft: 50, pods: [{ uid: 'a', memory: 5 }] }
      const rounds = world.rounds({}, { thresholds })
      assert.equal(await rounds.round(signal), false)
      await world.clock.advance(15_000)
      assert.equal(await rounds.round(signal), true)
      assert.ok(world.take().includes(`evict a Evicted ${expected} s disrupted`))
    }
  })

  test('holds pods to their own limits of the disk, without a disruption, and no other pod', async () => {
    const world = new EvictionWorld()
    world.pods = [pod('a', LIMITED), pod('b'), pod('c', LIMITED), pod('d', LIMITED)]
    const full = { volumes: { data: 11 } }
    world.use = { pods: [{ uid: 'a', ...full }, { uid: 'b', ...full }, { uid: 'c', ...full }, { uid: 'd' }] }
    assert.equal(await world.rounds({}).round(signal), true)
    assert.deepEqual(world.take(), [
      'ask disk',
      'count emptydirfs.limit',
      'event a Warning Evicted',
      'evict a Evicted 1 s',
      'drop a',
      'count emptydirfs.limit',
      'event c Warning Evicted',
      'evict c Evicted 1 s',
      'drop c',
    ])
    world.pods = [pod('a', LIMITED)]
    assert.equal(await world.rounds({}, { localStorage: false }).round(signal), false)
    assert.deepEqual(world.take(), [])
  })

  test('does nothing about the disk while it is not known where images are', async () => {
    const world = new EvictionWorld()
    world.pods = [pod('a', LIMITED)]
    world.use = { diskLeft: 1, images: undefined, pods: [{ uid: 'a', volumes: { data: 99 } }] }
    assert.equal(await world.rounds({ 'nodefs.available': '100Mi' }).round(signal), false)
    assert.deepEqual(world.take(), ['ask disk', 'pressure changed'])
  })

  test('counts a pod that does not end as evicted', async () => {
    const world = new EvictionWorld()
    world.pods = [pod('a')]
    world.use = { memoryLeft: 50, pods: [{ uid: 'a', memory: 5 }] }
    world.failing = 'evict a'
    assert.equal(await world.rounds({ 'memory.available': '100Mi' }).round(signal), true)
  })
})
