import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { FakeCgroupDriver } from '../../../test/fakes/fake-cgroup-driver.ts'
import { CgroupError } from '../../model/resources/cgroup-error.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { createPodCgroups } from './pod-cgroups.ts'
import type { PodCgroupsDeps } from './pod-cgroups.ts'

const never = new AbortController().signal
const uid = parsePodUid('u-1')
const resources = { requests: { cpu: '1', memory: '1k' }, limits: { cpu: '1', memory: '1k' } }
const pod = createPod({ spec: { containers: [createContainer({ resources })] } })
const PATH = '/kubepods/podu-1'

function setUp(parts: Partial<PodCgroupsDeps> = {}) {
  const driver = new FakeCgroupDriver()
  let changes = 0
  const cgroups = createPodCgroups(
    {
      layout: { driver: 'cgroupfs', root: '/', perQos: true },
      driver,
      reader: { version: 2, read: () => undefined, exists: () => false, children: () => [] },
      settings: {
        cpuCfsQuota: true,
        cpuCfsQuotaPeriodMicroseconds: 100_000n,
        podPidsLimit: 50n,
        hugepageSizes: [],
        protectsMemory: false,
      },
      hasExclusiveCpus: () => false,
      onChange: () => void (changes += 1),
      ...parts,
    },
    never,
  )
  return { cgroups, driver, changes: () => changes }
}

describe('createPodCgroups()', () => {
  test('has nothing to do where pods have no cgroups of their own', async () => {
    const { cgroups, driver } = setUp({ layout: { driver: 'cgroupfs', root: '/does-not-exist', perQos: false } })
    assert.equal(await cgroups.ensure(pod), false)
    assert.equal(await cgroups.current(pod), undefined)
    await cgroups.write(pod, { cpuShares: 2n })
    await cgroups.quiesce(uid)
    await cgroups.remove(uid)
    await cgroups.killContainer(uid, 'c-1')
    assert.deepEqual(await cgroups.list(), [])
    assert.deepEqual(driver.journal, [])
  })

  test('makes one with the values of its pod, and leaves it as it is from then on', async () => {
    const { cgroups, driver, changes } = setUp()
    assert.equal(await cgroups.ensure(pod), true)
    assert.deepEqual(driver.cgroups.get(PATH), {
      cpuShares: 1024n,
      cpuQuota: 100_000n,
      cpuPeriod: 100_000n,
      memoryLimitBytes: 1000n,
      pidsLimit: 50n,
      hugepageLimits: new Map(),
    })
    assert.equal(await cgroups.ensure(pod), false)
    assert.deepEqual(driver.journal, [`make ${PATH}`])
    assert.equal(changes(), 1)
  })

  test('sets no quota for a pod with CPUs of its own', async () => {
    const { cgroups, driver } = setUp({ hasExclusiveCpus: (asked) => asked === uid })
    await cgroups.ensure(pod)
    assert.equal(driver.cgroups.get(PATH)?.cpuQuota, -1n)
  })

  test('changes the values that are named', async () => {
    const { cgroups, driver } = setUp()
    await cgroups.ensure(pod)
    await cgroups.write(pod, { memoryLimitBytes: 7n })
    assert.deepEqual([driver.cgroups.get(PATH)?.memoryLimitBytes, driver.cgroups.get(PATH)?.cpuShares], [7n, 1024n])
  })

  test('quiesces and removes what is left of a pod, whatever its class was', async () => {
    const { cgroups, driver } = setUp()
    driver.cgroups.set('/kubepods/burstable/podu-1', { cpuShares: 1024n })
    await cgroups.quiesce(uid)
    assert.deepEqual(driver.cgroups.get('/kubepods/burstable/podu-1'), { cpuShares: 2n })
    await cgroups.remove(uid)
    assert.deepEqual([...driver.cgroups.keys()], [])
  })

  test('says what was wrong', async () => {
    const { cgroups, driver } = setUp()
    driver.failure = new Error('ENOSPC')
    await assert.rejects(
      cgroups.ensure(pod),
      (error) => error instanceof CgroupError && error.message.endsWith(': ENOSPC'),
    )
    await assert.rejects(cgroups.write(pod, {}), CgroupError)
  })
})
