import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeCgroupDriver } from '../../../test/fakes/fake-cgroup-driver.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import { runNodeCgroups, startNodeCgroups } from './node-cgroups.ts'
import type { NodeCgroupsDeps } from './node-cgroups.ts'

const never = new AbortController().signal
const limits = { cpuShares: 2048n, memoryLimitBytes: 1000n, hugepageLimits: new Map() }

function setUp(parts: Partial<NodeCgroupsDeps> = {}, driver = new FakeCgroupDriver('/')) {
  const events: string[] = []
  const clock = new FakeClock()
  const deps: NodeCgroupsDeps = {
    layout: { driver: 'cgroupfs', root: '/', perQos: true },
    driver,
    amounts: {
      capacity: parseAmounts({ cpu: '2', memory: '1000' }),
      system: parseAmounts({ cpu: '500m', memory: '100' }),
      kube: parseAmounts({ cpu: '250m', memory: '50' }),
      eviction: parseAmounts({ memory: '200' }),
    },
    enforced: ['none'],
    reservedCgroups: { system: '/system', kube: '/kube' },
    cpus: undefined,
    protectsReserved: false,
    events: { record: ({ type, reason, message }) => void events.push(`${type} ${reason} ${message}`) },
    clock,
    ...parts,
  }
  return { deps, driver, events, clock }
}

describe('startNodeCgroups()', () => {
  test('makes the cgroup of all pods, with all that there is when nothing is enforced', async () => {
    const { deps, driver, events } = setUp({ cpus: '0-1' })
    await startNodeCgroups(deps)
    assert.deepEqual(driver.cgroups.get('/kubepods'), { ...limits, cpus: '0-1' })
    assert.deepEqual(events, [])
  })

  test('takes off what is reserved, but not what eviction defends', async () => {
    const { deps, driver } = setUp({ enforced: ['pods'] })
    await startNodeCgroups(deps)
    const left = { ...limits, cpuShares: 1280n, memoryLimitBytes: 850n, cpus: undefined }
    assert.deepEqual(driver.cgroups.get('/kubepods'), left)
  })

  test('leaves one that is there', async () => {
    const { deps, driver } = setUp({}, new FakeCgroupDriver('/', '/kubepods'))
    await startNodeCgroups(deps)
    assert.deepEqual(driver.journal, [])
  })

  test('makes none where pods have no tree', async () => {
    const { deps, driver } = setUp({ layout: { driver: 'cgroupfs', root: '/', perQos: false } })
    await startNodeCgroups(deps)
    await runNodeCgroups(deps, never)
    assert.deepEqual(driver.journal, [])
  })

  test('does not begin without the root', async () => {
    const { deps } = setUp({ layout: { driver: 'cgroupfs', root: '/own', perQos: true } })
    await assert.rejects(startNodeCgroups(deps), /^Error: Cannot use cgroupRoot "\/own": no such cgroup, expected one/)
  })

  test('lets systemd start the slice of the root', async () => {
    const { deps, driver } = setUp({ layout: { driver: 'systemd', root: '/own', perQos: true } })
    await startNodeCgroups(deps)
    assert.deepEqual(driver.journal, ['make /own.slice', 'make /own.slice/own-kubepods.slice'])
  })

  const reserved: readonly (readonly [entry: string, cgroup: string, values: object])[] = [
    ['system-reserved', '/system', { cpuShares: 512n, memoryLimitBytes: 100n, hugepageLimits: new Map() }],
    ['kube-reserved', '/kube', { cpuShares: 256n, memoryLimitBytes: 50n, hugepageLimits: new Map() }],
    ['system-reserved-compressible', '/system', { cpuShares: 512n }],
    ['kube-reserved-compressible', '/kube', { cpuShares: 256n }],
  ]
  for (const [entry, cgroup, values] of reserved) {
    test(`limits "${cgroup}" for ${entry}, and no other`, async () => {
      const { deps, driver, events } = setUp({ enforced: [entry] }, new FakeCgroupDriver('/', '/system', '/kube'))
      await startNodeCgroups(deps)
      assert.deepEqual(driver.journal, ['make /kubepods', `update ${cgroup}`])
      assert.deepEqual(driver.cgroups.get(cgroup), { ...values, cpus: undefined })
      const kind = cgroup.slice(1)
      assert.deepEqual(events, [`Normal NodeAllocatableEnforced Updated limits on ${kind} reserved cgroup ${cgroup}`])
    })
  }

  test('protects reserved memory where that is asked for', async () => {
    const world = setUp({ enforced: ['kube-reserved'], protectsReserved: true }, new FakeCgroupDriver('/', '/kube'))
    await startNodeCgroups(world.deps)
    assert.equal(world.driver.cgroups.get('/kube')?.memoryMinBytes, 50n)
  })

  test('does not begin without a cgroup that is to be limited', async () => {
    const { deps, events } = setUp({ enforced: ['pods', 'kube-reserved'] })
    await assert.rejects(startNodeCgroups(deps), /Cannot enforce kubeReserved on cgroup "\/kube": no such cgroup/)
    assert.match(events.join(), /^Warning FailedNodeAllocatableEnforcement Failed to enforce Kube Reserved/)
  })
})

describe('runNodeCgroups()', () => {
  test('writes the limits of all pods and says so', async () => {
    const { deps, driver, events } = setUp({ enforced: ['pods'] }, new FakeCgroupDriver('/', '/kubepods'))
    await runNodeCgroups(deps, never)
    assert.equal(driver.cgroups.get('/kubepods')?.memoryLimitBytes, 850n)
    assert.deepEqual(events, ['Normal NodeAllocatableEnforced Updated Node Allocatable limit across pods'])
  })

  test('tries again each minute until the kernel takes them', async () => {
    const { deps, driver, events, clock } = setUp({ enforced: ['pods'] }, new FakeCgroupDriver('/', '/kubepods'))
    driver.failure = new Error('EBUSY')
    const running = runNodeCgroups(deps, never)
    await clock.advance(0)
    await clock.advance(59_999)
    assert.equal(events.length, 1)
    await clock.advance(1)
    assert.equal(events.length, 2)
    driver.failure = undefined
    await clock.advance(60_000)
    await running
    const failed =
      'Warning FailedNodeAllocatableEnforcement Failed to update Node Allocatable Limits "/kubepods": EBUSY'
    const done = 'Normal NodeAllocatableEnforced Updated Node Allocatable limit across pods'
    assert.deepEqual(events, [failed, failed, done])
  })
})
