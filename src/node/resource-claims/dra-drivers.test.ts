import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeDraDriver } from '../../../test/fakes/fake-dra-driver.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { until } from '../../../test/fakes/until.ts'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { DraDrivers } from './dra-drivers.ts'
import type { DriverCall } from '../../metrics/driver-metrics.ts'

const never = new AbortController().signal
const claim = { namespace: 'shop', uid: 'c-1', name: 'gpu' }

function start(t: TestContext) {
  const folder = makeTemporaryFolder()
  const clock = new FakeClock()
  const reported: string[] = []
  const calls: DriverCall[] = []
  const stop = new AbortController()
  const group = new TaskGroup(stop.signal)
  const drivers = new DraDrivers({
    clock,
    log: silentLogger,
    tasks: group,
    onCall: (call) => void calls.push(call),
    onUsable: (driver) => void reported.push(`${driver} is here`),
    onUnusable: (driver) => void reported.push(`${driver} is away`),
    watchHealth: undefined,
  })
  t.after(async () => {
    stop.abort(new ShutdownError())
    await group.join()
    assert.equal(clock.sleeping, 0)
  })
  const offer = (socket: string, versions = ['v1.DRAPlugin']) => ({
    name: 'a.example',
    endpoint: join(folder, socket),
    versions,
  })
  return { drivers, reported, calls, clock, offer, group }
}

describe('DraDrivers', () => {
  test('a driver is here while its plugin is connected, and away otherwise', async (t) => {
    const { drivers, reported, offer, group } = start(t)
    const plugin = offer('a.sock')
    const first = await FakeDraDriver.start(plugin.endpoint)
    await drivers.register(plugin)
    await until(() => reported.at(-1) === 'a.example is here')
    first[Symbol.dispose]()
    await until(() => reported.at(-1) === 'a.example is away')
    using _ = await FakeDraDriver.start(plugin.endpoint)
    await until(() => reported.at(-1) === 'a.example is here')
    await drivers.deregister(plugin)
    assert.equal(reported.at(-1), 'a.example is away')
    assert.equal(drivers.find('a.example'), undefined)
    await until(() => group.size === 0)
    await drivers.deregister(plugin)
  })

  test('of several plugins the newest that is connected is asked', async (t) => {
    const { drivers, reported, offer } = start(t)
    const [old, young] = [offer('old.sock'), offer('young.sock')]
    using _ = await FakeDraDriver.start(old.endpoint)
    await drivers.register(old)
    await until(() => reported.at(-1) === 'a.example is here')
    await drivers.register(young)
    assert.equal(drivers.find('a.example')?.endpoint, old.endpoint)
    using __ = await FakeDraDriver.start(young.endpoint)
    await until(() => drivers.find('a.example')?.endpoint === young.endpoint)
    await drivers.deregister(young)
    assert.equal(drivers.find('a.example')?.endpoint, old.endpoint)
    assert.equal(reported.at(-1), 'a.example is here')
  })

  for (const version of ['v1', 'v1beta1'] as const)
    test(`speaks ${version} with a driver that offers it`, async (t) => {
      const { drivers, calls, offer } = start(t)
      const plugin = offer('a.sock', ['v9.DRAPlugin', `${version}.DRAPlugin`, 'v1alpha1.DRAResourceHealth'])
      using driver = await FakeDraDriver.start(plugin.endpoint, { version })
      await drivers.register(plugin)
      const answers = await drivers.find('a.example')?.prepare([claim], never)
      const device = {
        requestNames: [],
        poolName: 'pool',
        deviceName: 'device-0',
        cdiDeviceIds: ['vendor.example/device=gpu'],
        shareId: undefined,
      }
      assert.deepEqual(answers, new Map([['c-1', { devices: [device], error: '' }]]))
      assert.deepEqual(await drivers.find('a.example')?.unprepare([claim], never), new Map([['c-1', { error: '' }]]))
      assert.deepEqual(driver.asked, ['prepare gpu', 'unprepare gpu'])
      const method = (name: string) => `/k8s.io.kubelet.pkg.apis.dra.${version}.DRAPlugin/${name}`
      assert.deepEqual(calls, [
        { driver: 'a.example', method: method('NodePrepareResources'), code: 'Ok', seconds: 0 },
        { driver: 'a.example', method: method('NodeUnprepareResources'), code: 'Ok', seconds: 0 },
      ])
    })

  test('takes the version that the driver offers first', async (t) => {
    const { drivers, calls, offer } = start(t)
    const plugin = offer('a.sock', ['v1beta1.DRAPlugin', 'v1.DRAPlugin'])
    using _ = await FakeDraDriver.start(plugin.endpoint, { version: 'v1beta1' })
    await drivers.register(plugin)
    await drivers.find('a.example')?.prepare([claim], never)
    assert.match(calls[0]?.method ?? '', /v1beta1/)
  })

  test('rejects plugins of no version that we know, and a second one at the same place', async (t) => {
    const { drivers, offer } = start(t)
    await assert.rejects(drivers.register(offer('a.sock', ['v1alpha3.DRAPlugin'])), {
      message:
        'Cannot register driver "a.example": it offers v1alpha3.DRAPlugin, expected one of v1.DRAPlugin, v1beta1.DRAPlugin',
    })
    await assert.rejects(drivers.register(offer('a.sock', [])), /it offers none/)
    const plugin = offer('b.sock')
    await drivers.register(plugin)
    await assert.rejects(drivers.register(plugin), /another plugin of it serves at/)
  })

  test('a call without an answer ends after 45 seconds, one that fails at once', async (t) => {
    const { drivers, calls, clock, offer } = start(t)
    const plugin = offer('a.sock')
    using driver = await FakeDraDriver.start(plugin.endpoint)
    await drivers.register(plugin)
    driver.isHung = true
    const hung = assert.rejects(drivers.find('a.example')?.prepare([claim], never) ?? Promise.resolve(), {
      message: 'NodePrepareResources: DeadlineExceeded: no answer after 45 s',
    })
    await until(() => driver.asked.length === 1)
    await clock.advance(45_000)
    await hung
    driver.isHung = false
    driver.isBroken = true
    await assert.rejects(drivers.find('a.example')?.unprepare([claim], never) ?? Promise.resolve(), {
      message: 'NodeUnprepareResources: Internal: broken',
    })
    assert.deepEqual(
      calls.map(({ code, seconds }) => [code, seconds]),
      [
        ['DeadlineExceeded', 45],
        ['Internal', 0],
      ],
    )
  })
})
