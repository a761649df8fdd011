import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/async/clock.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { createMasquerade, writeMasquerade } from '../../src/controllers/network/masquerade/masquerade.ts'
import { runProcess } from '../../src/system/processes/run-process.ts'
import { Iptables } from '../../src/system/network/iptables.ts'
import { Nft } from '../../src/system/network/nft.ts'
import { createNetworkLab } from './network-lab.ts'

const never = new AbortController().signal

describe('the rule that gives pods the address of the node', { timeout: 60_000 }, () => {
  test('holds towards neighbours and not between pods, is written again after a flush, and stays without its keeper', async (t) => {
    const lab = await createNetworkLab(t, ['a', 'b'])
    const { node, neighbour, pods } = lab
    const [a] = pods
    assert.ok(a !== undefined)
    const rules = new Nft(systemClock, node.enter)
    const options = { table: 'deckhand-test-masquerade', podRanges: ['10.123.0.0/16', 'fd00:123::/64'], rules }
    // The neighbour has a way back to the pods by its default route, so an answer proves nothing; who asked does.
    assert.equal(await a.connect('tcp', '192.0.2.2', 8080), 'neighbour 10.123.0.2')
    await writeMasquerade(options, never)
    assert.equal(await a.connect('tcp', '192.0.2.2', 8080), 'neighbour 192.0.2.1')
    assert.equal(await a.connect('tcp', '10.123.0.3', 8080), 'b 10.123.0.2')
    // Connections from outside keep their source.
    assert.equal(await neighbour.connect('tcp', '10.123.0.3', 8080), 'b 192.0.2.2')

    const stop = new AbortController()
    const group = new TaskGroup(stop.signal)
    t.after(async () => {
      stop.abort(new Error('over'))
      await group[Symbol.asyncDispose]()
    })
    // Two tables with one Nft share a process that watches.
    const other = { ...options, table: 'deckhand-test-other', podRanges: ['10.200.0.0/16'] }
    for (const each of [options, other]) {
      const keeper = createMasquerade({ clock: systemClock, log: silentLogger }, each)
      group.run(keeper.name, (signal) => keeper.run(signal))
    }
    const listing = (table: string) => node.run('nft', 'list', 'table', 'inet', table).catch(() => '')
    const until = async (what: string, holds: () => Promise<boolean>) => {
      for (const end = performance.now() + 10_000; !(await holds()); await sleep(30))
        if (performance.now() > end) throw new Error(`Not in time: ${what}`)
    }
    await until('the second table', async () => (await listing(other.table)).includes('saddr'))
    const monitors = async () => {
      const argv = ['pgrep', '--parent', String(process.pid), '--full', 'nft monitor']
      const { stdout } = await runProcess(systemClock, { argv, deadlineMs: 5000 }, never)
      return stdout.trim().split('\n').filter(Boolean).length
    }
    await until('one process that watches', async () => (await monitors()) === 1)
    for (const flush of [['ruleset'], ['table', 'inet', options.table]]) {
      await node.run('nft', 'flush', ...flush)
      await until('the rule that is back', async () => (await listing(options.table)).includes('saddr'))
      await until('the other one', async () => (await listing(other.table)).includes('saddr'))
    }
    assert.equal(await a.connect('tcp', '192.0.2.2', 8080), 'neighbour 192.0.2.1')

    stop.abort(new Error('over'))
    await group[Symbol.asyncDispose]()
    await until('the end of what watches', async () => (await monitors()) === 0)
    assert.equal(await a.connect('tcp', '192.0.2.2', 8080), 'neighbour 192.0.2.1')
    await rules.remove(options.table, never)
    assert.equal(await a.connect('tcp', '192.0.2.2', 8080), 'neighbour 10.123.0.2')
  })

  test('the same with iptables, and without any rule of others harmed', async (t) => {
    const { node, neighbour, pods } = await createNetworkLab(t, ['a', 'b'])
    const [a] = pods
    assert.ok(a !== undefined)
    const iptables = new Iptables(systemClock, node.enter)
    const options = { chainPrefix: 'DHM-test', podRanges: ['10.123.0.0/16', 'fd00:123::/64'], iptables }
    await node.run('iptables', '-t', 'nat', '-A', 'POSTROUTING', '-d', '203.0.113.9', '-j', 'RETURN')
    for (let n = 0; n < 2; n++) await writeMasquerade(options, never)
    assert.equal(await a.connect('tcp', '192.0.2.2', 8080), 'neighbour 192.0.2.1')
    assert.equal(await a.connect('tcp', '10.123.0.3', 8080), 'b 10.123.0.2')
    assert.equal(await neighbour.connect('tcp', '10.123.0.3', 8080), 'b 192.0.2.2')
    const saved = () => node.run('iptables-save', '-t', 'nat')
    assert.equal((await saved()).match(/-j DHM-test-POST/g)?.length, 1)
    assert.match(await saved(), /-d 203\.0\.113\.9\/32 -j RETURN/)

    const stop = new AbortController()
    const group = new TaskGroup(stop.signal)
    t.after(async () => {
      stop.abort(new Error('over'))
      await group[Symbol.asyncDispose]()
    })
    const keeper = createMasquerade({ clock: systemClock, log: silentLogger }, options)
    group.run(keeper.name, (signal) => keeper.run(signal))
    await sleep(300)
    await node.run('iptables', '-t', 'nat', '-F')
    for (const end = performance.now() + 10_000; !(await saved()).includes('-j DHM-test-POST'); await sleep(100))
      assert.ok(performance.now() < end, await saved())
    assert.equal(await a.connect('tcp', '192.0.2.2', 8080), 'neighbour 192.0.2.1')
  })
})
