import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { status } from '@grpc/grpc-js'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeCsiDriver } from '../../../test/fakes/fake-csi-driver.ts'
import type { FakeCsiDriverOptions } from '../../../test/fakes/fake-csi-driver.ts'
import { until } from '../../../test/fakes/until.ts'
import { CsiDriverRegistry } from './csi-driver-registry.ts'
import type { DriverInfo } from './csi-node-object.ts'
import { CsiPluginHandler } from './csi-plugin-handler.ts'

const never = new AbortController().signal

function setUp(t: TestContext, { hasApi = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'csi-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const journal: unknown[] = []
  const rejection: { error?: Error } = {}
  const registry = new CsiDriverRegistry()
  registry.onChange(() => void journal.push('changed'))
  const clock = new FakeClock()
  const objects = {
    async install(driver: string, info: DriverInfo) {
      journal.push(['install', driver, info])
      if (rejection.error !== undefined) throw rejection.error
    },
    uninstall: (driver: string) => void journal.push(['uninstall', driver]),
  }
  const handler = new CsiPluginHandler({ registry, objects: hasApi ? objects : undefined, onCall: () => {}, clock })
  return {
    handler,
    registry,
    journal,
    rejection,
    clock,
    start: async (name: string, options: FakeCsiDriverOptions = {}) => {
      const fake = await FakeCsiDriver.start(join(folder, name), options)
      t.after(() => fake[Symbol.dispose]())
      return fake
    },
    pathOf: (name: string) => join(folder, name),
  }
}

const plugin = (endpoint: string, version = '1.0.0') => ({ name: 'disk', endpoint, versions: [version] })

describe('CsiPluginHandler', () => {
  test('uses a driver once it is reported, and lets it go', async (t) => {
    const { handler, registry, journal, start } = setUp(t)
    const fake = await start('a', { nodeId: 'n-7', maxVolumes: 4n, segments: { zone: 'x' } })
    await handler.register(plugin(fake.path), never)
    const { name, nodeId } = registry.find('disk') ?? {}
    assert.deepEqual([name, nodeId, registry.names()], ['disk', 'n-7', ['disk']])
    const info = { nodeId: 'n-7', maxVolumes: 4n, topology: { zone: 'x' } }
    assert.deepEqual(journal, [['install', 'disk', info], 'changed'])
    fake.maxVolumes = 5n
    assert.deepEqual(await registry.get('disk')?.readInfo(never), { ...info, maxVolumes: 5n })
    await handler.deregister(plugin(fake.path))
    assert.equal(registry.find('disk'), undefined)
    assert.deepEqual(journal.slice(2), ['changed', ['uninstall', 'disk']])
  })

  test('needs no API', async (t) => {
    const { handler, registry, start } = setUp(t, { hasApi: false })
    const fake = await start('a')
    await handler.register(plugin(fake.path), never)
    assert.equal(registry.find('disk')?.nodeId, 'node-1')
    await handler.deregister(plugin(fake.path))
    assert.equal(registry.find('disk'), undefined)
  })

  test('does not use a driver that the API rejects', async (t) => {
    const { handler, registry, rejection, start } = setUp(t)
    const fake = await start('a')
    rejection.error = new Error('elsewhere')
    await assert.rejects(handler.register(plugin(fake.path), never), rejection.error)
    assert.equal(registry.find('disk'), undefined)
  })

  test('does not use a driver of a version that it does not know, and asks it nothing', async (t) => {
    const { handler, start } = setUp(t)
    const fake = await start('a')
    await assert.rejects(handler.register(plugin(fake.path, '2.0.0'), never), /expected one that is 1\.x/)
    assert.deepEqual(fake.calls, [])
  })

  test('does not use a driver that has no id for the node', async (t) => {
    const { handler, journal, start } = setUp(t)
    const fake = await start('a', { nodeId: '' })
    const message = 'Cannot register CSI driver "disk": it has no id for this node'
    await assert.rejects(handler.register(plugin(fake.path), never), { message })
    assert.deepEqual(journal, [])
  })

  test('waits a moment for a driver that does not serve yet', async (t) => {
    const { handler, registry, clock, start } = setUp(t)
    const fake = await start('a')
    fake.failures.set(
      'nodeGetInfo',
      [1, 2].map(() => ({ code: status.UNAVAILABLE, details: 'starting' })),
    )
    const registering = handler.register(plugin(fake.path), never)
    for (const [calls, ms] of [
      [1, 10],
      [2, 50],
    ] as const) {
      await until(() => fake.count('nodeGetInfo') === calls && clock.sleeping === 1)
      await clock.advance(ms)
    }
    await registering
    assert.equal(registry.find('disk')?.name, 'disk')
  })

  test('does not ask again what the driver rejected', async (t) => {
    const { handler, start } = setUp(t)
    const fake = await start('a')
    fake.failures.set('nodeGetInfo', [{ code: status.INTERNAL, details: 'broken' }])
    await assert.rejects(handler.register(plugin(fake.path), never), { code: 'Internal', detail: 'broken' })
    assert.equal(fake.count('nodeGetInfo'), 1)
  })

  test('keeps the driver it has when another of the name is not newer, and takes one that is', async (t) => {
    const { handler, registry, journal, start } = setUp(t)
    const [first, second] = [await start('a', { nodeId: 'first' }), await start('b', { nodeId: 'second' })]
    await handler.register(plugin(first.path, '1.2.0'), never)
    await assert.rejects(handler.register(plugin(second.path, '1.2'), never), {
      message:
        'Cannot register CSI driver "disk" with version 1.2: ' +
        'a driver of this name is registered with version 1.2.0 already, expected a higher one',
    })
    assert.equal(registry.find('disk')?.nodeId, 'first')
    await handler.register(plugin(second.path, '1.10.0'), never)
    assert.equal(registry.find('disk')?.nodeId, 'second')
    const before = journal.length
    await handler.deregister(plugin(first.path, '1.2.0'))
    assert.deepEqual([registry.find('disk')?.nodeId, journal.length], ['second', before])
  })

  test('two sockets of one driver wait for each other', async (t) => {
    const { handler, registry, start } = setUp(t)
    const [first, second] = [await start('a', { nodeId: 'first' }), await start('b', { nodeId: 'second' })]
    const results = await Promise.allSettled([
      handler.register(plugin(first.path), never),
      handler.register(plugin(second.path), never),
    ])
    assert.deepEqual(
      results.map((result) => result.status),
      ['fulfilled', 'rejected'],
    )
    assert.equal(registry.find('disk')?.nodeId, 'first')
  })
})
