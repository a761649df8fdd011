import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { createSupervisor } from '../../../base/telemetry/create-supervisor.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { runOomWatch } from './run-oom-watch.ts'

const kill = (task: string, where: string) =>
  `6,1,1,-;oom-kill:constraint=X,nodemask=0,cpuset=/,mems_allowed=0,${where},task_memcg=/a/b,task=${task},pid=7,uid=0\n`

function fail(code: string): never {
  throw Object.assign(new Error(`${code}: open '/dev/kmsg'`), { code })
}

describe('runOomWatch()', () => {
  function setUp(open?: () => never, isExpectedToFail = false) {
    const clock = new FakeClock()
    const records = [kill('before', 'global_oom')]
    const reported: string[] = []
    let isOpen = true
    const stop = new AbortController()
    const running = runOomWatch(
      {
        openLog: open ?? (() => ({ next: () => records.shift(), [Symbol.dispose]: () => void (isOpen = false) })),
        isExpectedToFail,
        onKill: ({ process }) => void reported.push(`killed ${process}`),
        nodeEvents: { record: ({ reason, message }) => void reported.push(`${reason} ${message}`) },
        clock,
        log: { ...silentLogger, warn: (message) => void reported.push(message.slice(0, 30)) },
      },
      stop.signal,
    )
    return { clock, records, reported, stop, running, isOpen: () => isOpen }
  }

  test('reports processes that are killed from now on; on the node only those of the whole machine', async () => {
    const { clock, records, reported, stop, running, isOpen } = setUp()
    await clock.advance(2000)
    assert.deepEqual(reported, [])
    records.push('6,2,1,-;eth0: up\n', kill('small', 'oom_memcg=/a'), kill('large', 'global_oom'))
    await clock.advance(2000)
    assert.deepEqual(reported, [
      'kernel killed a process for wa',
      'killed small',
      'kernel killed a process for wa',
      'SystemOOM System OOM encountered, victim process: large, pid: 7',
      'killed large',
    ])
    stop.abort(new Error('enough'))
    await assert.rejects(running, /enough/)
    assert.equal(isOpen(), false)
    assert.equal(clock.sleeping, 0)
  })

  for (const code of ['EPERM', 'EACCES', 'ENOENT'])
    test(`says once that the log is not for it (${code}), and ends`, async () => {
      const { reported, running } = setUp(() => fail(code))
      await running
      assert.deepEqual(reported, ['cannot read the kernel log: pr'])
    })

  test('does not warn where the log was not expected to be readable', async () => {
    const { reported, running } = setUp(() => fail('EPERM'), true)
    await running
    assert.deepEqual(reported, [])
  })

  for (const [when, code] of [
    ['opened', 'EMFILE'],
    ['read', 'EIO'],
  ] as const)
    test(`is run again by the supervisor when the log cannot be ${when} for once, which is counted`, async () => {
      const clock = new FakeClock()
      const counted: string[] = []
      const metrics = { loopFailed: (loop: string) => void counted.push(loop), taskFailed() {} }
      const supervisor = createSupervisor({ metrics, clock, random: () => 0, log: silentLogger })
      const stop = new AbortController()
      const group = new TaskGroup(stop.signal, supervisor)
      const records: string[] = []
      const killed: string[] = []
      let opened = 0
      const openLog = () => {
        opened += 1
        if (opened === 1 && when === 'opened') fail(code)
        const next = () => (opened === 1 ? fail(code) : records.shift())
        return { next, [Symbol.dispose]() {} }
      }
      const onKill = ({ process }: { readonly process: string }) => void killed.push(process)
      const deps = { openLog, onKill, isExpectedToFail: false, nodeEvents: { record() {} }, clock, log: silentLogger }
      group.runLoop('kernel log', (signal) => runOomWatch(deps, signal))
      await clock.advance(1000)
      records.push(kill('large', 'global_oom'))
      await clock.advance(2000)
      assert.deepEqual([counted, killed], [['kernel log'], ['large']])
      stop.abort(new Error('leave'))
      await group.join()
    })
})
