import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import type { Clock } from '../../../src/base/async/clock.ts'
import { systemClock } from '../../../src/base/async/clock.ts'
import type { DbusMessage } from '../../../src/system/dbus/dbus-message.ts'
import { openSystemdSlices } from '../../../src/system/cgroups/systemd-slices.ts'
import { createSystemdDriver } from '../../../src/node/cgroups/systemd-driver.ts'
import { FakeBusService } from '../../fakes/fake-bus-service.ts'
import { startFakeBus } from '../../fakes/fake-bus.ts'
import { FakeCgroupDriver } from '../../fakes/fake-cgroup-driver.ts'

const never = new AbortController().signal
const clock = systemClock
const onSilence = (error: Error) => assert.fail(error)
const NAME = 'org.freedesktop.systemd1'
const PATH = '/org/freedesktop/systemd1'
const POD = '/kubepods.slice/kubepods-podu_1.slice'

/** As much of systemd as slices need: units by name, and a signal when a job has ended. */
async function startSystemd(t: TestContext, results: readonly string[] = [], refusals: readonly string[] = []) {
  const bus = await startFakeBus(t)
  const units = new Set<string>()
  const ends = [...results]
  const errors = [...refusals]
  const jobOf = (unit: string) => {
    const body = [1, `${PATH}/job/1`, unit, ends.shift() ?? 'done']
    service.emit({ path: PATH, interface: `${NAME}.Manager`, member: 'JobRemoved', signature: 'uoss', body })
    return { signature: 'o', body: [`${PATH}/job/1`] }
  }
  const answer = ({ member, body }: DbusMessage) => {
    if (member === 'Ping') return { signature: '', body: [] }
    const unit = body[0]
    assert.ok(typeof unit === 'string')
    const error = errors.shift()
    if (error !== undefined) return { error }
    if (member === 'StartTransientUnit') {
      if (units.has(unit)) return { error: `${NAME}.UnitExists` }
      units.add(unit)
      return jobOf(unit)
    }
    if (member === 'StopUnit') return units.delete(unit) ? jobOf(unit) : { error: `${NAME}.NoSuchUnit` }
    return { signature: '', body: [] }
  }
  const service: FakeBusService = await FakeBusService.start({ address: bus.address, name: NAME }, answer)
  t.after(async () => service[Symbol.dispose]())
  const calls = () => service.called.slice(1).map(({ member, body }) => [member, body] as const)
  return { bus, units, calls }
}

describe('slices of systemd', () => {
  test('are made with what limits them, changed and removed again', async (t) => {
    const { bus, units, calls } = await startSystemd(t)
    using slices = await openSystemdSlices({ address: bus.address, clock, onSilence }, never)
    const files = new FakeCgroupDriver()
    const driver = createSystemdDriver({ slices, files, version: 2 }, never)
    const values = { cpuShares: 1024n, memoryLimitBytes: 4096n, pidsLimit: 10n }
    await driver.make(POD, values)
    assert.deepEqual([...units], ['kubepods-podu_1.slice'])
    assert.deepEqual(files.cgroups.get(POD), values, 'and what systemd does not know is written')
    await driver.update(POD, { memoryLimitBytes: 8192n })
    await driver.remove(POD, never)
    await driver.remove(POD, never)
    const yes = { signature: 'b', value: true }
    const number = (value: bigint) => ({ signature: 't', value })
    const unit = 'kubepods-podu_1.slice'
    assert.deepEqual(calls(), [
      [
        'StartTransientUnit',
        [
          unit,
          'replace',
          [
            ['Description', { signature: 's', value: 'cgroup of pods kubepods-podu_1.slice' }],
            ['DefaultDependencies', { signature: 'b', value: false }],
            ['Wants', { signature: 'as', value: ['kubepods.slice'] }],
            ['CPUAccounting', yes],
            ['MemoryAccounting', yes],
            ['IOAccounting', yes],
            ['TasksAccounting', yes],
            ['CPUWeight', number(39n)],
            ['MemoryMax', number(4096n)],
            ['TasksMax', number(10n)],
          ],
          [],
        ],
      ],
      ['SetUnitProperties', [unit, true, [['MemoryMax', number(8192n)]]]],
      ['StopUnit', [unit, 'replace']],
    ])
    assert.deepEqual([...files.cgroups], [])
  })

  test('that are there already get their properties', async (t) => {
    const { bus, units, calls } = await startSystemd(t)
    using slices = await openSystemdSlices({ address: bus.address, clock, onSilence }, never)
    units.add('a.slice')
    const weight = ['CPUWeight', { signature: 't', value: 5n }] as const
    await slices.start('a.slice', [['Wants', { signature: 'as', value: ['-.slice'] }], weight], never)
    assert.deepEqual(calls().at(-1), ['SetUnitProperties', ['a.slice', true, [weight]]])
    await slices.stop('gone.slice', never)
  })

  test('that systemd cannot make are an error', async (t) => {
    const { bus } = await startSystemd(t, ['failed'])
    using slices = await openSystemdSlices({ address: bus.address, clock, onSilence }, never)
    await assert.rejects(
      slices.start('a.slice', [], never),
      /Cannot do StartTransientUnit of "a\.slice": systemd says "failed", expected "done"/,
    )
  })

  test('are asked for again when systemd restarts', async (t) => {
    const away = ['NoReply', 'ServiceUnknown', 'NameHasNoOwner'].map((name) => `org.freedesktop.DBus.Error.${name}`)
    const { bus, units, calls } = await startSystemd(t, [], away)
    using slices = await openSystemdSlices({ address: bus.address, clock, onSilence }, never)
    await slices.start('a.slice', [], never)
    assert.deepEqual([...units], ['a.slice'])
    assert.deepEqual(
      calls().map(([member]) => member),
      Array(4).fill('StartTransientUnit'),
    )
  })

  test('are not asked for again when systemd refuses', async (t) => {
    const { bus, calls } = await startSystemd(t, [], ['org.freedesktop.DBus.Error.AccessDenied'])
    using slices = await openSystemdSlices({ address: bus.address, clock, onSilence }, never)
    await assert.rejects(slices.set('a.slice', [], never), /AccessDenied/)
    assert.deepEqual(calls(), [['SetUnitProperties', ['a.slice', true, []]]])
  })

  test('are requested over a new connection when the old one is lost', async (t) => {
    const { bus, units } = await startSystemd(t)
    using slices = await openSystemdSlices({ address: bus.address, clock, onSilence }, never)
    await slices.start('a.slice', [], never)
    await bus.stop()
    await assert.rejects(slices.start('b.slice', [], never))
    await assert.rejects(slices.start('b.slice', [], never), /bus/, 'it tries to connect again')
    assert.deepEqual([...units], ['a.slice'])
  })

  test('are waited for when the bus is there and silent, as on a machine that boots under load', async (t) => {
    const { bus, units } = await startSystemd(t)
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-silent-bus-'))
    const path = join(folder, 'bus')
    let silent = 2
    const sockets: Socket[] = []
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => {}))
      if (silent === 0) return void pipeline(socket, connect(bus.address.replace('unix:path=', '')), socket, () => {})
      silent -= 1
      socket.resume()
    }).listen(path)
    t.after(async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      rmSync(folder, { recursive: true })
    })
    await once(server, 'listening')
    const silences: string[] = []
    // 25 s as a quarter of one.
    const fast: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 100, signal) }
    const report = (error: Error) => void silences.push(error.message)
    using slices = await openSystemdSlices(
      { address: `unix:path=${path}`, clock: fast, onSilence: report },
      AbortSignal.timeout(20_000),
    )
    await slices.start('a.slice', [], never)
    assert.deepEqual([...units], ['a.slice'])
    assert.equal(silences.length, 2)
    for (const silence of silences)
      assert.match(silence, /^Cannot finish the login at the bus .* no end after 25000 ms$/)
  })

  test('are not available without a bus, or on one without systemd', async (t) => {
    await assert.rejects(openSystemdSlices({ address: 'unix:path=/does/not/exist', clock, onSilence }, never))
    const { address } = await startFakeBus(t)
    await assert.rejects(openSystemdSlices({ address, clock, onSilence }, never), /ServiceUnknown/)
  })
})
