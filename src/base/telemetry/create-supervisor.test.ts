import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FatalError } from '../async/abort-errors.ts'
import { TaskGroup } from '../async/task-group.ts'
import { createSupervisor } from './create-supervisor.ts'
import { silentLogger } from './silent-logger.ts'

function setUp() {
  const clock = new FakeClock()
  const stop = new AbortController()
  const counted: string[] = []
  const metrics = {
    loopFailed: (loop: string) => void counted.push(loop),
    taskFailed: () => void counted.push('a task'),
  }
  const supervisor = createSupervisor({ metrics, clock, random: () => 0, log: silentLogger })
  return { clock, stop, counted, group: new TaskGroup(stop.signal, supervisor) }
}

describe('createSupervisor()', () => {
  test('runs a loop that fails again, later each time, while the others go on', async () => {
    const { clock, stop, counted, group } = setUp()
    const startedAt: number[] = []
    group.runLoop('memory', async () => {
      startedAt.push(clock.monotonic())
      throw new Error('EMFILE: too many open files')
    })
    const first = clock.monotonic()
    group.runLoop('observer', (signal) => clock.sleep(1e9, signal))
    await clock.advance(1000)
    await clock.advance(2000)
    await clock.advance(4000)
    assert.deepEqual(
      startedAt.map((at) => at - first),
      [0, 1000, 3000, 7000],
    )
    assert.deepEqual([counted, group.signal.aborted], [['memory', 'memory', 'memory', 'memory'], false])
    stop.abort(new Error('leave'))
    await group.join()
  })

  test('waits only shortly after a loop that had recovered', async () => {
    const { clock, stop, counted, group } = setUp()
    group.runLoop('images', async (signal) => {
      if (counted.length >= 3) await clock.sleep(300_000, signal)
      throw new Error('no')
    })
    for (const ms of [1000, 2000, 4000, 300_000]) await clock.advance(ms)
    assert.equal(counted.length, 4)
    await clock.advance(1000)
    await clock.advance(300_000)
    assert.equal(counted.length, 5)
    stop.abort(new Error('leave'))
    await group.join()
  })

  test('leaves a loop that has nothing to do at its end', async () => {
    const { clock, counted, group } = setUp()
    group.runLoop('iptables', async () => {})
    await group.join()
    assert.deepEqual([counted, clock.sleeping], [[], 0])
  })

  test('counts a task that fails, and ends nothing', async () => {
    const { counted, group } = setUp()
    group.run('eviction of a pod', async () => {
      throw new Error('it did not end')
    })
    await group.join()
    assert.deepEqual([counted, group.signal.aborted], [['a task'], false])
  })

  test('ends all where a loop fails for good, however deep inside', async () => {
    const { group } = setUp()
    group.runLoop('servers', async (signal) => {
      const inner = new TaskGroup(signal)
      inner.run('port', async () => {
        throw new Error('Cannot serve', { cause: new FatalError('the port is taken') })
      })
      await inner.join()
    })
    await assert.rejects(group.join(), /Task "servers" failed/)
  })

  test('ends all where an essential task fails', async () => {
    const { clock, counted, group } = setUp()
    group.runLoop('observer', (signal) => clock.sleep(1e9, signal))
    group.runEssential('pod', async () => {
      throw new Error('a mistake')
    })
    await assert.rejects(group.join(), /Task "pod" failed/)
    assert.deepEqual(counted, [])
  })
})
