import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, test, type TestContext } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { type ProcessRequest, runProcess, runProcessOrThrow } from '../../src/system/processes/run-process.ts'
import { runIptablesChains } from '../../src/node/iptables/run-iptables-chains.ts'
import { FakeClock } from '../fakes/fake-clock.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { until } from '../fakes/until.ts'

const never = new AbortController().signal

/** A network of its own, with the lock of iptables in it too; gone with the test. What is run, is run in it. */
async function createNetwork(t: TestContext) {
  const script = 'mount -t tmpfs run /run && echo ready && exec sleep 3600'
  const holder = spawn('/usr/bin/setpriv', ['--pdeathsig', 'KILL', 'unshare', '--net', '--mount', 'sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(async () => {
    holder.kill('SIGKILL')
    await once(holder, 'exit')
  })
  await once(holder.stdout, 'data')
  return (request: ProcessRequest): ProcessRequest => ({
    ...request,
    argv: ['nsenter', '--target', String(holder.pid), '--net', '--mount', '--', ...request.argv],
  })
}

describe('the chains of iptables in a network of its own', () => {
  test('are there, are not doubled, and come back when the tables are flushed', async (t) => {
    const inside = await createNetwork(t)
    const run = async (...argv: readonly string[]) =>
      (await runProcessOrThrow(systemClock, inside({ argv, deadlineMs: 20_000 }), never)).stdout
    const chains = async () =>
      (await run('iptables-save')).split('\n').filter((line) => /KUBE/.test(line) || line.startsWith('*'))
    const clock = new FakeClock()
    const stop = new AbortController()
    await using group = new TaskGroup(stop.signal)
    group.run('chains', (signal) =>
      runIptablesChains(
        { runProcess: (request, s) => runProcess(systemClock, inside(request), s), clock, log: silentLogger },
        signal,
      ),
    )
    await until(() => clock.sleeping === 2)
    const first = await chains()
    assert.deepEqual(new Set(first), new Set(EXPECTED))
    assert.match(await run('ip6tables-save', '-t', 'mangle'), /:KUBE-IPTABLES-HINT - /)
    assert.doesNotMatch(await run('ip6tables-save', '-t', 'filter'), /KUBE-FIREWALL/)

    // Only the canary is gone: everything is looked at again, and nothing comes twice.
    await run('iptables', '-t', 'mangle', '-X', 'KUBE-KUBELET-CANARY')
    await clock.advance(60_000)
    await until(() => clock.sleeping === 2)
    assert.deepEqual((await chains()).sort(), first.sort())

    for (const table of ['mangle', 'filter', 'nat']) {
      await run('iptables', '-t', table, '-F')
      await run('iptables', '-t', table, '-X')
    }
    await clock.advance(60_000)
    await until(() => clock.sleeping === 2)
    assert.deepEqual((await chains()).sort(), first.sort())
    stop.abort(new Error('test ends'))
  })
})

const EXPECTED = [
  '*mangle',
  ':KUBE-IPTABLES-HINT - [0:0]',
  ':KUBE-KUBELET-CANARY - [0:0]',
  '*nat',
  '*filter',
  ':KUBE-FIREWALL - [0:0]',
  '-A INPUT -j KUBE-FIREWALL',
  '-A OUTPUT -j KUBE-FIREWALL',
  '-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" ' +
    '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
]
