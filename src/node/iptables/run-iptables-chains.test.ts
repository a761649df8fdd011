import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { ProcessResult } from '../../system/processes/run-process.ts'
import { runIptablesChains } from './run-iptables-chains.ts'

type Exit = ProcessResult['exitCode'] | 'missing'

/** Runs the chains with programs that end with the given exit codes; notes what was run, by family. */
function start(t: TestContext, exitOf: (program: string) => Exit) {
  const clock = new FakeClock()
  const stop = new AbortController()
  const group = new TaskGroup(stop.signal)
  const ran: string[] = []
  const reported: string[] = []
  const report = (message: string, fields?: Readonly<Record<string, unknown>>) =>
    void reported.push(`${message}: ${String(fields?.['family'])}`)
  group.run('chains', (signal) =>
    runIptablesChains(
      {
        runProcess: async ({ argv }) => {
          ran.push(argv.join(' '))
          const exitCode = exitOf(argv[0] ?? '')
          if (exitCode === 'missing') throw new Error('no such program')
          return { exitCode, stdout: '', stderr: 'as the test wants' }
        },
        clock,
        log: { ...silentLogger, info: report, warn: report },
      },
      signal,
    ),
  )
  t.after(async () => {
    stop.abort(new Error('test ends'))
    await group.join()
    assert.equal(clock.sleeping, 0)
  })
  return { clock, ran: () => ran.splice(0).sort(), reported: () => reported.splice(0).sort() }
}

const SET_UP = ['ip6tables-restore --noflush -w 5', 'iptables-restore --noflush -w 5', 'iptables-save -t filter']
const CHECK = ['ip6tables -w 5 -t mangle -S KUBE-KUBELET-CANARY', 'iptables -w 5 -t mangle -S KUBE-KUBELET-CANARY']

describe('runIptablesChains()', () => {
  test('sets up once, then one check a minute for each family', async (t) => {
    const { clock, ran } = start(t, () => 0)
    await clock.advance(0)
    assert.deepEqual(ran(), SET_UP)
    await clock.advance(59_999)
    assert.deepEqual(ran(), [])
    await clock.advance(1)
    assert.deepEqual(ran(), CHECK)
    await clock.advance(60_000)
    assert.deepEqual(ran(), CHECK)
  })

  test('what was flushed is set up again', async (t) => {
    let exitCode = 0
    const { clock, ran } = start(t, (program) => (program === 'iptables' ? exitCode : 0))
    await clock.advance(0)
    ran()
    exitCode = 1
    await clock.advance(60_000)
    assert.deepEqual(ran(), [...CHECK, 'iptables-restore --noflush -w 5', 'iptables-save -t filter'])
  })

  test('a table that another program holds is left alone', async (t) => {
    const { clock, ran } = start(t, (program) => (program === 'iptables' ? 4 : 0))
    await clock.advance(60_000)
    assert.deepEqual(ran(), [...SET_UP, ...CHECK].sort())
  })

  test('a family that the machine has no programs for is reported once, and left out', async (t) => {
    const { clock, ran, reported } = start(t, (program) => (program.startsWith('ip6') ? 'missing' : 0))
    await clock.advance(60_000)
    assert.deepEqual(reported(), [
      'cannot use iptables, going on without its chains: ipv6',
      'iptables chains are there: ipv4',
    ])
    assert.deepEqual(ran(), ['iptables -w 5 -t mangle -S KUBE-KUBELET-CANARY', ...SET_UP].sort())
  })

  test('chains that cannot be made again are tried again', async (t) => {
    let isBroken = false
    const { clock, ran, reported } = start(t, (program) => (isBroken && !program.startsWith('ip6') ? 1 : 0))
    await clock.advance(0)
    isBroken = true
    await clock.advance(60_000)
    assert.ok(reported().includes('cannot set up the iptables chains, will try again: ipv4'))
    ran()
    isBroken = false
    await clock.advance(60_000)
    assert.deepEqual(ran(), CHECK)
  })
})
