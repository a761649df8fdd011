import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { TaskGroup } from '../../../src/base/async/task-group.ts'
import { openDbus } from '../../../src/system/dbus/dbus-connection.ts'
import type { ShutdownLock } from '../../../src/system/machine/hold-shutdown-lock.ts'
import { LogindWatch } from '../../../src/node/shutdown/logind-watch.ts'
import { FakeBusService } from '../../fakes/fake-bus-service.ts'
import { type FakeBus, startFakeBus } from '../../fakes/fake-bus.ts'
import { FakeClock } from '../../fakes/fake-clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { until } from '../create-agent.ts'

const MANAGER = { path: '/org/freedesktop/login1', interface: 'org.freedesktop.login1.Manager' }

/** Logind and systemd as far as they have to do with shutdowns. */
async function startLogind(bus: FakeBus, options: { readonly delaySeconds: number; readonly preparing?: boolean }) {
  const state = { delaySeconds: options.delaySeconds, preparing: options.preparing === true, reload: () => {} }
  const logind = await FakeBusService.start({ address: bus.address, name: 'org.freedesktop.login1' }, ({ body }) => {
    const value =
      body[1] === 'InhibitDelayMaxUSec'
        ? { signature: 't', value: BigInt(state.delaySeconds) * 1_000_000n }
        : { signature: 'b', value: state.preparing }
    return { signature: 'v', body: [value] }
  })
  const systemd = await FakeBusService.start({ address: bus.address, name: 'org.freedesktop.systemd1' }, () => {
    state.reload()
    return { signature: '', body: [] }
  })
  const lastQuestion = () => logind.called.at(-1)?.body[1]
  return {
    state,
    systemd,
    /** The watch asks last whether a shutdown has begun: from then on it notices all that follow. */
    isWatched: () => until(() => lastQuestion() === 'PreparingForShutdown', 'the last question'),
    prepare: (begins: boolean) =>
      logind.emit({ ...MANAGER, member: 'PrepareForShutdown', signature: 'b', body: [begins] }),
    [Symbol.dispose]() {
      logind[Symbol.dispose]()
      systemd[Symbol.dispose]()
    },
  }
}

/** A watch with pods that end when the test says so, and a lock that only says whether it is held. */
function startWatch(t: TestContext, bus: { readonly address: string }) {
  const clock = new FakeClock()
  const stop = new AbortController()
  const group = new TaskGroup(stop.signal)
  const happened: string[] = []
  let pods = Promise.withResolvers<boolean>()
  let lock: { isLost: boolean; lose: () => void } | undefined
  let delayFile = ''
  let forgets = 0
  const watch = new LogindWatch({
    shutdown: {
      begin: async () => {
        happened.push('begin')
        return await pods.promise
      },
      cancel: async () => {
        happened.push('cancel')
        pods.resolve(false)
        pods = Promise.withResolvers()
        return true
      },
      forgetEarlier: () => void (forgets += 1),
    },
    seconds: 30,
    connect: (signal) => openDbus({ address: bus.address, clock }, signal),
    lock: async (onLost): Promise<ShutdownLock> => {
      happened.push('lock')
      const own = { isLost: false, lose: onLost, [Symbol.dispose]: () => void happened.push('release') }
      lock = own
      return own
    },
    writeDelayFile: async (text) => void (delayFile = text),
    clock,
    log: silentLogger,
  })
  let isTerminal = false
  group.run('watch', async (signal) => {
    await watch.run(signal)
    isTerminal = true
  })
  t.after(async () => {
    stop.abort(new Error('test ends'))
    await group.join()
    assert.equal(clock.sleeping, 0)
  })
  return {
    clock,
    happened,
    forgets: () => forgets,
    delayFile: () => delayFile,
    isTerminal: () => isTerminal,
    endPods: () => pods.resolve(true),
    loseLock() {
      if (lock === undefined) return
      lock.isLost = true
      lock.lose()
    },
    saw: async (...expected: readonly string[]) => {
      await until(() => happened.length >= expected.length, expected.join(', '))
      assert.deepEqual(happened.splice(0), expected)
    },
  }
}

describe('a machine with logind', () => {
  test('a shutdown waits for the pods, and no longer', async (t) => {
    const bus = await startFakeBus(t)
    using logind = await startLogind(bus, { delaySeconds: 60 })
    const watch = startWatch(t, bus)
    await watch.saw('lock')
    await logind.isWatched()
    logind.prepare(true)
    await watch.saw('begin')
    watch.endPods()
    await watch.saw('release')
    assert.equal(watch.delayFile(), '', 'it allowed enough already')
    assert.equal(watch.forgets(), 1, 'an earlier shutdown was over when the agent came')
    assert.equal(logind.systemd.called.length, 0)
  })

  test('a cancelled shutdown is delayed the next time too', async (t) => {
    const bus = await startFakeBus(t)
    using logind = await startLogind(bus, { delaySeconds: 60 })
    const watch = startWatch(t, bus)
    await watch.saw('lock')
    await logind.isWatched()
    logind.prepare(true)
    await watch.saw('begin')
    logind.prepare(false)
    await watch.saw('cancel')
    logind.prepare(true)
    await watch.saw('begin')
    watch.endPods()
    await watch.saw('release')
    logind.prepare(false)
    await watch.saw('cancel', 'lock')
  })

  test('a delay that is too short is made longer', async (t) => {
    const bus = await startFakeBus(t)
    using logind = await startLogind(bus, { delaySeconds: 5 })
    const watch = startWatch(t, bus)
    await until(() => logind.systemd.called.length === 1, 'the reload')
    assert.deepEqual(logind.systemd.called[0]?.body, ['systemd-logind.service', 'all', 1])
    assert.match(watch.delayFile(), /\n\[Login\]\nInhibitDelayMaxSec=30\n$/)
    await until(() => watch.clock.sleeping > 0, 'a wait for it')
    logind.state.delaySeconds = 30
    await passUntil(watch, () => watch.happened.length > 0)
    await watch.saw('lock')
  })

  test('a delay that stays too short is the end of it', async (t) => {
    const bus = await startFakeBus(t)
    using _logind = await startLogind(bus, { delaySeconds: 5 })
    const watch = startWatch(t, bus)
    await passUntil(watch, () => watch.isTerminal())
    assert.deepEqual(watch.happened, [])
  })

  test('a lost connection is made again, and what happened meanwhile is noticed', async (t) => {
    const bus = await startFakeBus(t)
    const first = await startLogind(bus, { delaySeconds: 60 })
    const address = { address: bus.address }
    const watch = startWatch(t, address)
    await watch.saw('lock')
    // The answer is there too: a bus that is lost before it counts as one without logind.
    await until(() => watch.forgets() > 0, 'the first answers')
    await bus.stop()
    first[Symbol.dispose]()
    const other = await startFakeBus(t)
    using _second = await startLogind(other, { delaySeconds: 60, preparing: true })
    address.address = other.address
    await passUntil(watch, () => watch.happened.length > 0)
    await watch.saw('begin')
    watch.endPods()
    await watch.saw('release')
  })

  test('a lock that is lost is taken again', async (t) => {
    const bus = await startFakeBus(t)
    using logind = await startLogind(bus, { delaySeconds: 60 })
    const watch = startWatch(t, bus)
    await watch.saw('lock')
    await logind.isWatched()
    watch.loseLock()
    await passUntil(watch, () => watch.happened.length > 1)
    await watch.saw('release', 'lock')
  })

  test('on a machine without a bus the watch ends', async (t) => {
    const watch = startWatch(t, { address: 'unix:path=/nowhere/bus' })
    await until(() => watch.isTerminal(), 'it gives up')
    assert.deepEqual(watch.happened, [])
  })
})

/** Moves time on, a little with each turn of the real world. */
async function passUntil(watch: { readonly clock: FakeClock }, isTrue: () => boolean): Promise<void> {
  let at = performance.now()
  await until(() => {
    if (performance.now() - at > 5) {
      at = performance.now()
      void watch.clock.advance(150)
    }
    return isTrue()
  }, 'something in time')
}
