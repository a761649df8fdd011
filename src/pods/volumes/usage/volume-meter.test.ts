import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import type { FileSystemUsage } from '../../../system/files/file-usage.ts'
import type { PodUid } from '../../../model/pod/pod.ts'
import type { DriverUsage, MountedVolume } from '../mounted-volume.ts'
import { VolumeMeter } from './volume-meter.ts'
import type { VolumeMeterDeps } from './volume-meter.ts'

const PERIOD_MS = 60_000
const whole: FileSystemUsage = {
  capacityBytes: 1000,
  availableBytes: 400,
  usedBytes: 600,
  inodes: 10,
  inodesFree: 7,
  inodesUsed: 3,
}
const tree = { bytes: 20, inodes: 2 }

function createVolume(name: string, parts: Partial<MountedVolume> = {}): MountedVolume {
  const pod = { namespace: 'shop', name: 'web' }
  return {
    uid: 'u-1' as PodUid,
    pod,
    name,
    path: `/v/${name}`,
    measure: 'walk',
    isLocalEphemeral: true,
    pvcRef: undefined,
    ...parts,
  }
}

/** Stays until it is aborted, as a measurement of a dead file system does. */
function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

function setUp(t: TestContext, volumes: readonly MountedVolume[], parts: Partial<VolumeMeterDeps> = {}) {
  const clock = new FakeClock(0)
  const world = { volumes }
  const asked: string[] = []
  const measured: unknown[] = []
  const warnings: unknown[] = []
  const stuck = new Set<string>()
  const failing = new Set<string>()
  const measure = async (what: string, path: string, signal: AbortSignal) => {
    asked.push(`${clock.now() / 1000} ${what} ${path}`)
    if (stuck.has(path)) await hang(signal)
    if (failing.has(path)) throw new Error('EIO')
  }
  const stats = new VolumeMeter({
    mounted: () => world.volumes,
    files: {
      measureFileSystem: (path, signal) => measure('statfs', path, signal).then(() => whole),
      measureTree: (path, signal) => measure('walk', path, signal).then(() => tree),
    },
    periodMs: PERIOD_MS,
    metrics: { volumeMeasured: (...measurement) => measured.push(measurement) },
    clock,
    random: () => 0,
    log: { ...silentLogger, warn: (_, fields) => warnings.push(fields?.['volume']) },
    ...parts,
  })
  const leave = new AbortController()
  const running = stats.run(leave.signal).catch((error: unknown) => assert.equal(error, leave.signal.reason))
  const end = async () => {
    leave.abort(new Error('leave'))
    await running
    assert.deepEqual([clock.sleeping, getEventListeners(leave.signal, 'abort').length], [0, 0])
  }
  t.after(end)
  return { clock, world, asked, measured, warnings, stuck, failing, stats }
}

describe('VolumeMeter', () => {
  test('asks the driver of a volume that has one, takes what it says, and hears of its health where that is wanted', async (t) => {
    const reported: string[] = []
    const driver = (name: string, said: DriverUsage | undefined) => ({
      name,
      ask: async () => said,
      reportAbnormal: (message: string) => void reported.push(`${name} ${message}`),
    })
    const ill = { capacityBytes: 5, usedBytes: 1, condition: { abnormal: true, message: 'it smokes' } }
    const volumes = [
      createVolume('ill', { measure: 'driver', driver: driver('d', ill) }),
      createVolume('mute', { measure: 'driver', driver: driver('e', undefined) }),
    ]
    const { clock, asked, stats, measured } = setUp(t, volumes, { reportsHealth: true })
    await clock.advance(5)
    assert.deepEqual(stats.usages(), [
      { volume: volumes[0], capacityBytes: 5, usedBytes: 1, isAbnormal: true, time: 0 },
    ])
    assert.deepEqual(
      [asked, reported, measured],
      [
        [],
        ['d it smokes'],
        [
          ['d', 0],
          ['e', 0],
        ],
      ],
    )
    const deaf = setUp(t, volumes)
    await deaf.clock.advance(5)
    assert.deepEqual(deaf.stats.usages(), [{ volume: volumes[0], capacityBytes: 5, usedBytes: 1, time: 0 }])
    assert.equal(reported.length, 1)
  })

  test('walks through what shares its file system, asks the file system of what has its own', async (t) => {
    const volumes = [
      createVolume('cache'),
      createVolume('data', { measure: 'fileSystem' }),
      createVolume('host', { measure: undefined }),
    ]
    const { clock, asked, stats, measured } = setUp(t, volumes)
    await clock.advance(5)
    assert.deepEqual(asked.toSorted(), ['0 statfs /v/cache', '0 statfs /v/data', '0 walk /v/cache'])
    assert.deepEqual(stats.usages(), [
      { volume: volumes[0], time: 0, ...whole, usedBytes: 20, inodesUsed: 2 },
      { volume: volumes[1], time: 0, ...whole },
    ])
    assert.deepEqual(measured, [
      ['statfs', 0],
      ['du', 0],
    ])
  })

  test('measures again after once to twice the period, each volume for itself', async (t) => {
    const draws = [0, 0.5]
    const volumes = ['a', 'b'].map((name) => createVolume(name, { measure: 'fileSystem' }))
    const { clock, asked } = setUp(t, volumes, { random: () => draws.shift() ?? 0.9 })
    await clock.advance(90_000)
    assert.deepEqual(asked, ['0 statfs /v/a', '0 statfs /v/b', '60 statfs /v/a', '90 statfs /v/b'])
  })

  test('asks for what has a project, all at the same time, and walks through the others', async (t) => {
    const volumes = ['counted', 'too', 'other'].map((name) => createVolume(name))
    const questions: string[] = []
    const projects = {
      has: (path: string) => path !== '/v/other',
      usageOf: async (path: string) => {
        questions.push(path)
        return path === '/v/other' ? undefined : { bytes: 7, inodes: 1 }
      },
    }
    const { clock, asked, stats } = setUp(t, volumes, { projects, random: () => 0.9 })
    await clock.advance(61_000)
    assert.deepEqual(
      asked.filter((line) => line.includes('walk')),
      ['0 walk /v/other'],
    )
    assert.deepEqual(questions, ['/v/counted', '/v/too', '/v/other', '/v/counted', '/v/too'])
    assert.deepEqual(
      stats.usages().map(({ usedBytes, inodesUsed, time }) => [usedBytes, inodesUsed, time]),
      [
        [7, 1, 60_000],
        [7, 1, 60_000],
        [20, 2, 0],
      ],
    )
  })

  test('measures content of the agent itself once, but again until it worked', async (t) => {
    const { clock, asked, failing } = setUp(t, [createVolume('config', { measure: 'once' })])
    failing.add('/v/config')
    await clock.advance(59_999)
    failing.clear()
    await clock.advance(600_000)
    assert.deepEqual(asked, ['0 statfs /v/config', '60 statfs /v/config', '60 walk /v/config'])
  })

  test('measures at once when that is wanted: what pods fill, after what is under way', async (t) => {
    const volumes = [createVolume('cache'), createVolume('busy'), createVolume('config', { measure: 'once' })]
    const { clock, asked, stuck, stats } = setUp(t, volumes)
    stuck.add('/v/busy')
    await clock.advance(5000)
    asked.splice(0)
    const late = new AbortController()
    const wanted = assert.rejects(stats.measureNow(late.signal), /enough/)
    await clock.advance(1)
    assert.deepEqual(asked, ['5 statfs /v/cache', '5 walk /v/cache'])
    late.abort(new Error('enough'))
    await wanted
    assert.deepEqual(
      stats.usages().map(({ volume, time }) => [volume.name, time]),
      [
        ['cache', 5000],
        ['config', 0],
      ],
    )
  })

  test('finds a new volume soon', async (t) => {
    const { clock, world, asked } = setUp(t, [])
    await clock.advance(5000)
    world.volumes = [createVolume('new', { measure: 'fileSystem' })]
    await clock.advance(5000)
    assert.deepEqual(asked, ['10 statfs /v/new'])
  })

  test('keeps to a short period', async (t) => {
    const { clock, asked } = setUp(t, [createVolume('a', { measure: 'fileSystem' })], { periodMs: 1000 })
    await clock.advance(2000)
    assert.deepEqual(asked, ['0 statfs /v/a', '1 statfs /v/a', '2 statfs /v/a'])
  })

  for (const periodMs of [0, -1])
    test(`never measures with a period of ${periodMs}`, async (t) => {
      const { clock, asked, stats } = setUp(t, [createVolume('a')], { periodMs })
      await stats.measureNow(new AbortController().signal)
      await clock.advance(600_000)
      assert.deepEqual([asked, stats.usages()], [[], []])
    })

  test('goes on with the others while some hang, and sends no other there', async (t) => {
    const volumes = ['a', 'b', 'c', 'd'].map((name) => createVolume(name, { measure: 'fileSystem' }))
    const { clock, asked, stuck, stats } = setUp(t, volumes)
    for (const name of ['a', 'b', 'c']) stuck.add(`/v/${name}`)
    await clock.advance(59_999)
    assert.deepEqual(
      stats.usages().map(({ volume }) => volume.name),
      ['d'],
    )
    await clock.advance(65_000)
    assert.deepEqual(asked, ['0 statfs /v/a', '0 statfs /v/b', '1 statfs /v/c', '1 statfs /v/d', '70 statfs /v/d'])
  })

  test('keeps the last result of one that fails, and says so once until it works again', async (t) => {
    const { clock, failing, warnings, stats } = setUp(t, [createVolume('a', { measure: 'fileSystem' })])
    await clock.advance(30_000)
    failing.add('/v/a')
    await clock.advance(150_000)
    assert.deepEqual([warnings, stats.usages().map(({ time }) => time)], [['a'], [0]])
    failing.clear()
    await clock.advance(60_000)
    failing.add('/v/a')
    await clock.advance(60_000)
    assert.deepEqual([warnings, stats.usages().map(({ time }) => time)], [['a', 'a'], [240_000]])
  })

  test('forgets a volume that is gone, and stops measuring it', async (t) => {
    const volume = createVolume('a', { measure: 'fileSystem' })
    const { clock, world, asked, stuck, warnings, stats } = setUp(t, [volume])
    await clock.advance(1)
    world.volumes = []
    assert.deepEqual(stats.usages(), [])
    await clock.advance(10_000)
    // Nothing is known of it when it comes back.
    world.volumes = [volume]
    assert.deepEqual(stats.usages(), [])
    stuck.add('/v/a')
    await clock.advance(10_000)
    world.volumes = []
    await clock.advance(10_000)
    // Only the loop itself is left.
    assert.deepEqual([clock.sleeping, warnings], [1, []])
    assert.deepEqual(asked, ['0 statfs /v/a', '20 statfs /v/a'])
  })

  test('leaves at once while one hangs', async (t) => {
    const { clock, stuck } = setUp(t, [createVolume('a')])
    stuck.add('/v/a')
    await clock.advance(1)
  })

  test('reports each claim once, as the first pod sees it', async (t) => {
    const pvcRef = { namespace: 'shop', name: 'data' }
    const second = { measure: 'fileSystem', uid: 'u-2' as PodUid, pvcRef } as const
    const volumes = [createVolume('a', { pvcRef }), createVolume('b', second), createVolume('c')]
    const { clock, stats } = setUp(t, volumes)
    await clock.advance(1)
    assert.deepEqual(
      stats.claimUsages().map(({ namespace, claim, usedBytes }) => ({ namespace, claim, usedBytes })),
      [{ namespace: 'shop', claim: 'data', usedBytes: 20 }],
    )
  })
})
