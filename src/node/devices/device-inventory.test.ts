import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { DeviceInventory } from './device-inventory.ts'
import type { DevicePluginCalls } from './device-plugin-client.ts'

const GPU = 'example.com/gpu'
const device = (id: string, isHealthy = true) => ({ id, isHealthy, nodes: [] })

function createPlugin(preStartRequired = false): DevicePluginCalls {
  const fail = () => Promise.reject(new Error('not expected'))
  const options = { preStartRequired, getPreferredAllocationAvailable: false }
  return { options, allocate: fail, preStart: fail, prefer: fail }
}

function setUp(recorded: readonly string[] = []) {
  const clock = new FakeClock()
  let changes = 0
  const inventory = new DeviceInventory({ recorded, onChange: () => void (changes += 1), clock })
  const counts = () => {
    const { capacity, allocatable } = inventory.counts()
    return [...capacity].map(([name, count]) => `${name} ${count}/${allocatable.get(name)}`)
  }
  return { clock, inventory, counts, changes: () => changes }
}

describe('DeviceInventory', () => {
  test('has what plugins report, and nothing to give while they are away', async () => {
    const { clock, inventory, counts, changes } = setUp()
    const plugin = createPlugin()
    inventory.connected(GPU, plugin)
    assert.deepEqual([counts(), inventory.isReady(GPU)], [[`${GPU} 0/0`], false])
    assert.deepEqual(inventory.listed(GPU, plugin, [device('a'), device('b', false)]), ['a', 'b'])
    assert.deepEqual(inventory.listed(GPU, plugin, [device('b', false), device('a')]), [])
    assert.deepEqual([counts(), inventory.isReady(GPU)], [[`${GPU} 2/1`], true])
    inventory.lost(GPU, plugin)
    assert.deepEqual([counts(), inventory.plugin(GPU)], [[`${GPU} 2/0`], undefined])
    await clock.advance(299_999)
    assert.deepEqual([inventory.dropAway(), inventory.patienceMs(GPU)], [[], 1])
    await clock.advance(1)
    assert.deepEqual([inventory.dropAway(), counts(), inventory.knows(GPU)], [[GPU], [`${GPU} 0/0`], false])
    assert.equal(changes(), 4)
  })

  test('knows of what was recorded that it is away', async () => {
    const { clock, inventory, counts } = setUp([GPU])
    assert.deepEqual([counts(), inventory.knows(GPU)], [[`${GPU} 0/0`], true])
    await clock.advance(300_000)
    assert.deepEqual(inventory.dropAway(), [GPU])
  })

  test('says which devices are unhealthy or healthy now, and what was last reported', () => {
    const { clock, inventory } = setUp()
    const health = () => ['a', 'b', 'x'].map((id) => inventory.health(GPU, id))
    assert.deepEqual(health(), [undefined, undefined, undefined])
    const plugin = createPlugin()
    inventory.connected(GPU, plugin)
    inventory.listed(GPU, plugin, [device('a'), device('b')])
    assert.deepEqual(inventory.listed(GPU, plugin, [device('a'), device('b', false)]), ['b'])
    inventory.lost(GPU, plugin)
    assert.deepEqual(health(), ['Healthy', 'Unhealthy', undefined])
    const again = createPlugin()
    inventory.connected(GPU, again)
    assert.deepEqual(inventory.listed(GPU, again, [device('a'), device('b')]), ['b'])
    assert.equal(clock.sleeping, 0)
  })

  test('ignores a plugin that another has replaced', () => {
    const { inventory, counts } = setUp()
    const [first, second] = [createPlugin(), createPlugin()]
    inventory.connected(GPU, first)
    inventory.connected(GPU, second)
    inventory.listed(GPU, second, [device('a')])
    assert.deepEqual(inventory.listed(GPU, first, []), [])
    inventory.lost(GPU, first)
    assert.deepEqual([counts(), inventory.plugin(GPU)], [[`${GPU} 1/1`], second])
  })

  test('remembers whether a plugin that is away prepares containers', () => {
    const { inventory } = setUp()
    const plugin = createPlugin(true)
    assert.equal(inventory.needsPreStart(GPU), false)
    inventory.connected(GPU, plugin)
    inventory.lost(GPU, plugin)
    assert.equal(inventory.needsPreStart(GPU), true)
  })

  test('wakes a caller that waits for a change, once', async () => {
    const { inventory } = setUp()
    const end = new AbortController()
    const waits = [inventory.nextChange(end.signal), inventory.nextChange(end.signal)]
    inventory.connected(GPU, createPlugin())
    await Promise.all(waits)
    const late = inventory.nextChange(end.signal)
    end.abort(new Error('test ended'))
    await assert.rejects(late, /test ended/v)
    await assert.rejects(inventory.nextChange(end.signal), /test ended/v)
  })
})
