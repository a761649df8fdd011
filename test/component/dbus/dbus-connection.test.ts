import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { type DbusCall, openDbus } from '../../../src/system/dbus/dbus-connection.ts'
import type { DbusValue } from '../../../src/system/dbus/dbus-value.ts'
import { FakeBusService } from '../../fakes/fake-bus-service.ts'
import { startFakeBus } from '../../fakes/fake-bus.ts'
import { FakeClock } from '../../fakes/fake-clock.ts'

const never = new AbortController().signal
const clock = systemClock
const name = 'org.example.Service'
const echo: DbusCall = { destination: name, path: '/here', interface: 'org.example', member: 'Echo' }
const BUS = { destination: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus' }
const happened = { path: '/here', interface: 'org.example', member: 'Happened', signature: 's' }

describe('a connection to a real bus', () => {
  test('a call gets its answer, with every kind of value', async (t) => {
    const bus = await startFakeBus(t)
    using service = await FakeBusService.start({ address: bus.address, name }, ({ signature, body }) => ({
      signature,
      body,
    }))
    using connection = await openDbus({ address: bus.address, clock }, never)
    const body: DbusValue[] = [
      true,
      -5,
      2n ** 63n,
      ['a', 'ü'],
      new Map<DbusValue, DbusValue>([['Slice', { signature: 'a(sb)', value: [['x', false]] }]]),
    ]
    assert.deepEqual(await connection.call({ ...echo, signature: 'bitasa{sv}', body }, never), body)
    assert.equal(service.called.length, 1)
  })

  test('many calls at once get each their own answer', async (t) => {
    const bus = await startFakeBus(t)
    using _service = await FakeBusService.start({ address: bus.address, name }, ({ signature, body }) => ({
      signature,
      body,
    }))
    using connection = await openDbus({ address: bus.address, clock }, never)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => connection.call({ ...echo, signature: 'u', body: [index] }, never)),
    )
    assert.deepEqual(
      answers.map(([value]) => value),
      Array.from({ length: 50 }, (_, index) => index),
    )
  })

  test('an error carries the name that the other side gave it', async (t) => {
    const bus = await startFakeBus(t)
    using _service = await FakeBusService.start({ address: bus.address, name }, () => ({ error: 'org.example.Busy' }))
    using connection = await openDbus({ address: bus.address, clock }, never)
    await assert.rejects(connection.call(echo, never), {
      name: 'DbusCallError',
      errorName: 'org.example.Busy',
      message: 'Cannot call org.example.Echo of org.example.Service: org.example.Busy: as the test wants',
    })
    await assert.rejects(connection.call({ ...echo, destination: 'org.example.Nobody' }, never), {
      errorName: 'org.freedesktop.DBus.Error.ServiceUnknown',
    })
  })

  test('signals reach their listener, from their sender only, also after it came back', async (t) => {
    const bus = await startFakeBus(t)
    const first = await FakeBusService.start({ address: bus.address, name }, () => undefined)
    using liar = await FakeBusService.start({ address: bus.address }, () => undefined)
    using connection = await openDbus({ address: bus.address, clock }, never)
    const heard: unknown[] = []
    const wakeup = { ring: () => {} }
    await connection.onSignal(
      { sender: name, interface: 'org.example', member: 'Happened' },
      ([text]) => {
        heard.push(text)
        wakeup.ring()
      },
      never,
    )
    const [names] = await connection.call({ ...BUS, member: 'ListNames' }, never)
    for (const destination of names as readonly string[]) liar.emit({ ...happened, destination, body: ['a lie'] })
    first.emit({ ...happened, member: 'Other', body: ['not asked for'] })
    const waitFor = (text: string) =>
      new Promise<void>((resolve) => (wakeup.ring = () => heard.includes(text) && resolve()))
    const firstHeard = waitFor('first')
    first.emit({ ...happened, body: ['first'] })
    await firstHeard
    first[Symbol.dispose]()
    using second = await FakeBusService.start({ address: bus.address, name }, () => undefined)
    const secondHeard = waitFor('second')
    second.emit({ ...happened, body: ['second'] })
    await secondHeard
    assert.deepEqual(heard, ['first', 'second'])
  })

  test('a lost connection is noticed, and fails what waits', async (t) => {
    const bus = await startFakeBus(t)
    using _service = await FakeBusService.start({ address: bus.address, name }, () => undefined)
    using connection = await openDbus({ address: bus.address, clock }, never)
    const waiting = assert.rejects(connection.call(echo, never), { name: 'DbusConnectionError' })
    await bus.stop()
    await waiting
    assert.match(String(await connection.closed), /Lost the connection to the bus/)
    await assert.rejects(connection.call(echo, never), { name: 'DbusConnectionError' })
    await assert.rejects(openDbus({ address: bus.address, clock }, never), {
      name: 'DbusConnectionError',
      message: /^Cannot connect to the bus at /,
    })
  })

  test('a call ends at its deadline, or when its caller gives up', async (t) => {
    const bus = await startFakeBus(t)
    using service = await FakeBusService.start({ address: bus.address, name }, () => undefined)
    const fake = new FakeClock()
    using connection = await openDbus({ address: bus.address, clock: fake }, never)
    const late = assert.rejects(connection.call({ ...echo, deadlineMs: 1000 }, never), { name: 'DeadlineError' })
    await fake.advance(1000)
    await late
    const leave = new AbortController()
    const gone = assert.rejects(connection.call(echo, leave.signal), /no interest/)
    leave.abort(new Error('no interest'))
    await gone
    await assert.rejects(connection.call(echo, leave.signal), /no interest/)
    assert.equal(fake.sleeping, 0)
    assert.ok(service.called.length <= 3)
  })

  test('a closed connection says so', async (t) => {
    const bus = await startFakeBus(t)
    const connection = await openDbus({ address: bus.address, clock }, never)
    connection[Symbol.dispose]()
    assert.match(String(await connection.closed), /closed by us/)
  })
})
