import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakePlugin } from '../../../test/fakes/fake-plugin.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { until } from '../../../test/fakes/until.ts'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { Plugin, PluginHandler } from './plugin-handler.ts'
import { PluginRegistrations } from './plugin-registrations.ts'

const CHECK_MS = 60_000
const DEADLINES_MS = [10_000, 1000, 5000]

function start(t: TestContext, change: Partial<PluginHandler> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'plugins-'))
  const clock = new FakeClock()
  const slept: number[] = []
  const noting: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep(ms, signal) {
      if (ms !== CHECK_MS) slept.push(ms)
      return clock.sleep(ms, signal)
    },
  }
  const journal: string[] = []
  const handler: PluginHandler = {
    register: async ({ name }) => void journal.push(`register ${name}`),
    deregister: async ({ name }) => void journal.push(`deregister ${name}`),
    ...change,
  }
  const stop = new AbortController()
  const registrations = new PluginRegistrations({
    directory: join(folder, 'plugins_registry'),
    handlers: new Map([['CSIPlugin', handler]]),
    clock: noting,
    log: silentLogger,
  })
  mkdirSync(join(folder, 'plugins_registry'))
  const running = registrations.run(stop.signal).catch((error: unknown) => {
    if (error !== stop.signal.reason) throw error
  })
  const end = async () => {
    stop.abort(new ShutdownError())
    await running
    assert.equal(clock.sleeping, 0)
  }
  t.after(async () => {
    await end()
    rmSync(folder, { recursive: true })
  })
  const pathOf = (name: string) => join(folder, 'plugins_registry', name)
  return { registrations, clock, slept, journal, pathOf, end }
}

describe('PluginRegistrations', () => {
  test('registers a plugin when its socket appears, and lets it go when the socket is gone', async (t) => {
    const seen: Plugin[] = []
    const { registrations, journal, pathOf } = start(t, { register: async (plugin) => void seen.push(plugin) })
    mkdirSync(pathOf('deep'))
    {
      using plugin = await FakePlugin.start(pathOf('deep/a.sock'))
      await until(() => plugin.reported.length === 1)
      assert.deepEqual(plugin.reported, [{ pluginRegistered: true, error: '' }])
      assert.deepEqual(seen, [
        { type: 'CSIPlugin', name: 'disk.example.com', endpoint: plugin.path, versions: ['1.0.0'] },
      ])
      await until(() => registrations.plugins()[0]?.isRegistered === true)
      assert.deepEqual(registrations.plugins(), [{ socketPath: plugin.path, isRegistered: true }])
    }
    await until(() => journal.length === 1)
    assert.deepEqual(journal, ['deregister disk.example.com'])
    assert.deepEqual(registrations.plugins(), [])
  })

  test('registers a plugin again whose socket was made again, after the old one was let go', async (t) => {
    const { journal, pathOf } = start(t)
    const first = await FakePlugin.start(pathOf('a.sock'))
    await until(() => first.reported.length === 1)
    await until(() => journal.length === 1)
    first[Symbol.dispose]()
    using _ = await FakePlugin.start(pathOf('a.sock'), { name: 'second' })
    await until(() => journal.length === 3)
    assert.deepEqual(journal, ['register disk.example.com', 'deregister disk.example.com', 'register second'])
  })

  test('registers every plugin again when it is run again', async (t) => {
    const { registrations, journal, pathOf, end } = start(t)
    using _ = await FakePlugin.start(pathOf('a.sock'))
    await until(() => journal.length === 1)
    await end()
    const stop = new AbortController()
    const running = registrations.run(stop.signal)
    await until(() => journal.length === 2)
    assert.deepEqual(journal, ['register disk.example.com', 'register disk.example.com'])
    stop.abort(new ShutdownError())
    await assert.rejects(running, ShutdownError)
  })

  test('notifies a plugin of an unknown type that no handler can use it, and again after a while', async (t) => {
    const { registrations, clock, slept, journal, pathOf } = start(t)
    using plugin = await FakePlugin.start(pathOf('a.sock'), { type: 'DRAPlugin', name: 'gpu' })
    await until(() => plugin.reported.length === 1)
    const error = 'Cannot register plugin "gpu": type "DRAPlugin" is not supported, supported types: CSIPlugin'
    assert.deepEqual(plugin.reported, [{ pluginRegistered: false, error }])
    assert.deepEqual(registrations.plugins(), [{ socketPath: plugin.path, isRegistered: false }])
    await until(() => slept.length === 4)
    await clock.advance(500)
    await until(() => slept.length === 8)
    await clock.advance(1000)
    await until(() => slept.length === 12)
    assert.deepEqual(slept, [...DEADLINES_MS, 500, ...DEADLINES_MS, 1000, ...DEADLINES_MS, 2000])
    assert.equal(plugin.reported.length, 3)
    assert.deepEqual(journal, [])
  })

  test('notifies a plugin that its handler rejected it', async (t) => {
    const { pathOf } = start(t, {
      async register() {
        throw new Error('version 9 is not known')
      },
    })
    using plugin = await FakePlugin.start(pathOf('a.sock'))
    await until(() => plugin.reported.length === 1)
    assert.deepEqual(plugin.reported, [{ pluginRegistered: false, error: 'version 9 is not known' }])
  })

  test('lets a plugin go that rejects the notification of its registration', async (t) => {
    const { journal, pathOf } = start(t)
    using plugin = await FakePlugin.start(pathOf('a.sock'))
    plugin.refusesNotice = true
    await until(() => journal.length === 2)
    assert.deepEqual(journal, ['register disk.example.com', 'deregister disk.example.com'])
  })

  test('a plugin that hangs concerns only itself', async (t) => {
    const { clock, slept, journal, pathOf } = start(t)
    using hung = await FakePlugin.start(pathOf('a.sock'), { name: 'hung' })
    hung.isHung = true
    using good = await FakePlugin.start(pathOf('b.sock'), { name: 'good' })
    await until(() => good.reported.length === 1)
    assert.deepEqual(journal, ['register good'])
    await until(() => hung.asked === 1)
    hung.isHung = false
    // The question without an answer is given up, and asked again after the back-off.
    await until(() => slept.length === 5)
    await clock.advance(1000)
    await until(() => slept.at(-1) === 500)
    await clock.advance(500)
    await until(() => hung.reported.length === 1)
    assert.deepEqual(journal, ['register good', 'register hung'])
  })

  test('leaves plugins registered when the agent ends', async (t) => {
    const { journal, pathOf, end } = start(t)
    using plugin = await FakePlugin.start(pathOf('a.sock'))
    await until(() => plugin.reported.length === 1)
    // Even before its answer has come.
    await end()
    assert.deepEqual(journal, ['register disk.example.com'])
  })
})
