import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import type { ShutdownPeriod } from './compute-shutdown-periods.ts'
import { NodeShutdown } from './node-shutdown.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5)
const PERIODS: readonly ShutdownPeriod[] = [
  { priority: 0, seconds: 20 },
  { priority: 2_000_000_000, seconds: 10 },
]
const PODS = [
  createPod({ metadata: { uid: 'web' }, spec: { terminationGracePeriodSeconds: 30 } }),
  createPod({ metadata: { uid: 'db' }, spec: { terminationGracePeriodSeconds: 5 } }),
  createPod({ metadata: { uid: 'dns' }, spec: { priority: 2_000_001_000, terminationGracePeriodSeconds: 30 } }),
]

/** Pods that end when the test says so. */
function createNode(
  options: { readonly periods?: readonly ShutdownPeriod[]; readonly file?: string; readonly clock?: FakeClock } = {},
) {
  const { clock = new FakeClock(AT) } = options
  const group = new TaskGroup(new AbortController().signal)
  const happened: string[] = []
  const ends = new Map<string, { readonly resolve: () => void; readonly reject: (error: Error) => void }>()
  let file = options.file
  let isBroken = false
  let isKnown = false
  const shutdown = new NodeShutdown({
    pods: {
      activePods: () => PODS,
      runAgain: () => void happened.push('run again'),
      areKnown: () => isKnown,
      shutDown: async (uid, graceSeconds, signal) => {
        happened.push(`end ${uid} ${graceSeconds}`)
        const { promise, resolve, reject } = Promise.withResolvers<void>()
        ends.set(uid, { resolve, reject })
        await waitForShared(promise, signal)
        happened.push(`ended ${uid}`)
      },
    },
    periods: options.periods ?? PERIODS,
    bootedAt: AT - 3_600_000,
    file: {
      read: async () => file,
      write: async (text) => {
        if (isBroken) throw new Error('disk is full')
        file = text
      },
    },
    events: { record: ({ reason, message }) => void happened.push(`${reason}: ${message}`) },
    metrics: {
      shutdownStarted: (seconds) => void happened.push(`started at ${seconds}`),
      shutdownEnded: (seconds) => void happened.push(`ended at ${seconds}`),
    },
    onChange: () => void happened.push(shutdown.problems()[0] ?? 'ready'),
    tasks: group,
    clock,
    log: silentLogger,
  })
  const read = () => happened.splice(0)
  return {
    clock,
    group,
    shutdown,
    ends,
    read,
    file: () => file,
    breakDisk: () => (isBroken = true),
    know: () => (isKnown = true),
  }
}

describe('NodeShutdown', () => {
  test('ends pods by priority, each in its time', async () => {
    const { clock, group, shutdown, ends, read, file } = createNode()
    const said: string[] = []
    const done = shutdown.begin('command', (line) => said.push(line))
    assert.ok(shutdown.isShuttingDown)
    await clock.advance(0)
    assert.deepEqual(read(), [
      'Shutdown: Shutdown manager detected shutdown event',
      'node is shutting down',
      `started at ${AT / 1000}`,
      'ended at 0',
      'end web 20',
      'end db 5',
    ])
    assert.deepEqual(JSON.parse(file() ?? ''), {
      startTime: '2026-01-02T03:04:05.000Z',
      endTime: '0001-01-01T00:00:00Z',
      byCommand: true,
      groups: [{ priority: 0, endsAt: clock.monotonic() + 20_000 }],
    })
    ends.get('db')?.resolve()
    await clock.advance(3000)
    assert.deepEqual(read(), ['ended db'])
    ends.get('web')?.resolve()
    await clock.advance(0)
    assert.deepEqual(read(), ['ended web', 'end dns 10'])
    ends.get('dns')?.resolve()
    assert.equal(await done, true)
    assert.deepEqual(read(), ['ended dns', `ended at ${AT / 1000 + 3}`])
    assert.equal(
      file(),
      '{"startTime":"2026-01-02T03:04:05.000Z","endTime":"2026-01-02T03:04:08.000Z","byCommand":true}',
    )
    assert.deepEqual(said, [
      'ending 2 pods of priority 0 and above, at most 20 s',
      'ending 1 pod of priority 2000000000 and above, at most 10 s',
    ])
    assert.deepEqual(shutdown.problems(), ['node is shutting down'])
    await group.join()
    assert.equal(clock.sleeping, 0)
  })

  test('goes on when the time of a group is up, and when a pod cannot be ended', async () => {
    const { clock, shutdown, ends, read } = createNode()
    const done = shutdown.begin('logind')
    await clock.advance(0)
    ends.get('db')?.reject(new Error('no runtime'))
    await clock.advance(19_999)
    assert.equal(read().at(-1), 'end db 5')
    await clock.advance(1)
    assert.deepEqual(read(), ['end dns 10'])
    await clock.advance(10_000)
    assert.equal(await done, true)
    assert.equal(clock.sleeping, 0)
  })

  test('a group that gets no time delays no other group', async () => {
    const periods = [
      { priority: 0, seconds: 0 },
      { priority: 2_000_000_000, seconds: 30 },
    ]
    const { clock, shutdown, read } = createNode({ periods })
    void shutdown.begin('logind')
    await clock.advance(0)
    assert.deepEqual(read().slice(4), ['end web 0', 'end db 0', 'end dns 30'])
    await clock.advance(30_000)
  })

  test('where nothing is asked for, pods get the time that they ask for', async () => {
    const { clock, shutdown, ends, read } = createNode({ periods: [] })
    const done = shutdown.begin('logind')
    await clock.advance(3_600_000)
    assert.deepEqual(read().slice(4), ['end web 30', 'end db 5'])
    for (const uid of ['web', 'db']) ends.get(uid)?.resolve()
    await clock.advance(0)
    ends.get('dns')?.resolve()
    assert.equal(await done, true)
  })

  test('who asks again waits for the same end', async () => {
    const { clock, shutdown, ends, read } = createNode()
    const [first, second] = [shutdown.begin('logind'), shutdown.begin('logind')]
    await clock.advance(0)
    for (const uid of ['web', 'db']) ends.get(uid)?.resolve()
    await clock.advance(0)
    ends.get('dns')?.resolve()
    assert.deepEqual(await Promise.all([first, second, shutdown.begin('logind')]), [true, true, true])
    assert.equal(read().filter((line) => line.startsWith('end ')).length, 3)
  })

  test('cancelled: those that were not reached stay, and the node is ready again', async () => {
    const { clock, group, shutdown, read, file } = createNode()
    const done = shutdown.begin('command')
    await clock.advance(0)
    read()
    assert.equal(await shutdown.cancel(), true)
    assert.equal(await done, false)
    assert.deepEqual(read(), ['Shutdown: Shutdown manager detected shutdown cancellation', 'ready', 'run again'])
    assert.match(file() ?? '', /"endTime":"2026-/, 'an agent that starts later does not go on with it')
    assert.equal(await shutdown.cancel(), false)
    await clock.advance(60_000)
    assert.deepEqual(read(), [])
    await group.join()
    const again = shutdown.begin('logind')
    await clock.advance(30_000)
    assert.equal(await again, true)
  })

  test('a disk that takes nothing does not keep pods from ending', async () => {
    const { clock, shutdown, breakDisk } = createNode()
    breakDisk()
    const done = shutdown.begin('logind')
    await clock.advance(30_000)
    assert.equal(await done, true)
  })

  test('cancelled when all pods have ended: those of manifests run again', async () => {
    const { clock, shutdown, read, file } = createNode()
    const done = shutdown.begin('command')
    await clock.advance(30_000)
    assert.equal(await done, true)
    const before = file()
    assert.equal(await shutdown.cancel(), true)
    assert.equal(read().at(-1), 'run again')
    assert.deepEqual([shutdown.isShuttingDown, file()], [false, before])
  })

  const interrupted = '{"startTime":"2026-01-02T03:04:00.000Z","endTime":"0001-01-01T00:00:00Z","byCommand":true}'

  test('goes on where an agent was killed in the middle, when all pods are known', async () => {
    const { clock, shutdown, ends, read, file, know } = createNode({ file: interrupted })
    await shutdown.recall()
    assert.deepEqual(shutdown.problems(), ['node is shutting down'])
    await clock.advance(10_000)
    assert.ok(!read().includes('end web 20'))
    know()
    await clock.advance(100)
    assert.deepEqual(read(), ['end web 20', 'end db 5'])
    const done = shutdown.begin('command')
    for (const uid of ['web', 'db']) ends.get(uid)?.resolve()
    await clock.advance(0)
    ends.get('dns')?.resolve()
    assert.equal(await done, true)
    assert.match(file() ?? '', /^\{"startTime":"2026-01-02T03:04:00.000Z","endTime":"2026-/, 'it is one shutdown')
    assert.equal(clock.sleeping, 0)
  })

  for (const who of ['command', 'logind'] as const) {
    test(`an agent that was killed leaves the groups of a shutdown by ${who} what is left of their time`, async () => {
      const first = createNode()
      void first.shutdown.begin(who)
      await first.clock.advance(12_000)
      const { clock, shutdown, read, know } = createNode({ file: first.file() ?? '', clock: first.clock })
      know()
      await shutdown.recall()
      if (who === 'logind') void shutdown.begin('logind')
      await clock.advance(0)
      assert.deepEqual(read().slice(-2), ['end web 8', 'end db 5'])
      await clock.advance(8000)
      assert.deepEqual(read(), ['end dns 10'], 'one that had not begun is whole')
      await clock.advance(10_000)
    })
  }

  test('one by logind that was cancelled while no agent was there takes nothing from the next', async () => {
    const first = createNode()
    void first.shutdown.begin('logind')
    await first.clock.advance(12_000)
    const { clock, shutdown, read } = createNode({ file: first.file() ?? '', clock: first.clock })
    await shutdown.recall()
    shutdown.forgetEarlier()
    void shutdown.begin('logind')
    await clock.advance(0)
    assert.deepEqual(read().slice(-2), ['end web 20', 'end db 5'])
    await clock.advance(30_000)
  })

  test('goes on after a while although not all pods are known', async () => {
    const { clock, shutdown, read } = createNode({ file: interrupted })
    await shutdown.recall()
    await clock.advance(30_000)
    assert.deepEqual(read().slice(-2), ['end web 20', 'end db 5'])
    await clock.advance(30_000)
    assert.equal(clock.sleeping, 0)
  })

  test('does not go on with a shutdown from before the last boot', async () => {
    const { shutdown } = createNode({ file: interrupted.replace('03:04:00', '01:04:00') })
    await shutdown.recall()
    assert.equal(shutdown.isShuttingDown, false)
  })

  for (const [what, file, expected] of [
    ['nothing', undefined, []],
    ['nonsense', '{', []],
    ['no times', '{}', []],
    ['a start', '{"startTime":"2026-01-02T03:04:05.123456789Z","endTime":"0001-01-01T00:00:00Z"}', ['started at']],
    ['both', '{"startTime":"2026-01-02T03:04:05+01:00","endTime":"2026-01-02T03:04:05Z"}', ['started at', 'ended at']],
  ] as const) {
    test(`an earlier agent left ${what}`, async () => {
      const { shutdown, read } = createNode(file === undefined ? {} : { file })
      await shutdown.recall()
      assert.deepEqual(
        read().map((line) => line.slice(0, line.lastIndexOf(' '))),
        expected,
      )
      assert.deepEqual(shutdown.problems(), [])
    })
  }
})
