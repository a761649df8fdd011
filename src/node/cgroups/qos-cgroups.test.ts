import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { FakeCgroupDriver } from '../../../test/fakes/fake-cgroup-driver.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { QosCgroups } from './qos-cgroups.ts'
import type { QosCgroupsDeps } from './qos-cgroups.ts'

const BURSTABLE = '/kubepods/burstable'
const podOf = (uid: string, cpu: string) =>
  createPod({ metadata: { uid }, spec: { containers: [createContainer({ resources: { requests: { cpu } } })] } })

function setUp(parts: Partial<QosCgroupsDeps> = {}) {
  const driver = new FakeCgroupDriver('/kubepods')
  const clock = new FakeClock()
  const pods: Pod[] = []
  const qos = new QosCgroups({
    layout: { driver: 'cgroupfs', root: '/', perQos: true },
    driver,
    settings: { reserve: undefined, protectsMemory: undefined, hugepageSizes: [] },
    pods: () => pods,
    memoryUsage: () => undefined,
    clock,
    log: silentLogger,
    ...parts,
  })
  const stop = new AbortController()
  const run = () => {
    const running = qos.run(stop.signal)
    return async () => {
      stop.abort(new ShutdownError())
      await assert.rejects(running, ShutdownError)
      assert.equal(clock.sleeping, 0)
    }
  }
  return { qos, driver, clock, pods, run }
}

describe('QosCgroups', () => {
  test('are made at the start, and those that are there are not made again', async () => {
    const { qos, driver } = setUp()
    await qos.start()
    await qos.start()
    assert.deepEqual(driver.journal, [`make ${BURSTABLE}`, 'make /kubepods/besteffort'])
    assert.deepEqual(driver.cgroups.get('/kubepods/besteffort'), { cpuShares: 2n, hugepageLimits: new Map() })
  })

  test('report how much memory they protect, where memory can be', async () => {
    const memory = (uid: string, amount: string, isGuaranteed: boolean) => {
      const amounts = { cpu: '1', memory: amount }
      const resources = { requests: amounts, ...(isGuaranteed && { limits: amounts }) }
      return createPod({ metadata: { uid }, spec: { containers: [createContainer({ resources })] } })
    }
    for (const [protectsMemory, expected] of [
      [true, [{ guaranteedBytes: 1024, burstableBytes: 3072 }]],
      [false, [{ guaranteedBytes: 0, burstableBytes: 0 }]],
      [undefined, []],
    ] as const) {
      const reported: unknown[] = []
      const settings = { reserve: undefined, protectsMemory, hugepageSizes: [] }
      const { qos, pods, clock, run } = setUp({ settings, onProtected: (sums) => void reported.push(sums) })
      pods.push(memory('u-1', '1Ki', true), memory('u-2', '1Ki', false), memory('u-3', '2Ki', false))
      await qos.start()
      const end = run()
      await clock.advance(0)
      assert.deepEqual(reported, expected)
      await end()
    }
  })

  test('stay as they are until all pods are known', async () => {
    let known: readonly Pod[] | undefined
    const { qos, driver, clock, run } = setUp({ pods: () => known })
    await qos.start()
    driver.journal.length = 0
    const end = run()
    await clock.advance(0)
    assert.deepEqual(driver.journal, [])
    known = [podOf('u-1', '500m')]
    qos.wake()
    await clock.advance(0)
    assert.equal(driver.cgroups.get(BURSTABLE)?.cpuShares, 512n)
    await end()
  })

  test('follow pods that come and go, with one write for all that come together', async () => {
    const { qos, driver, clock, pods, run } = setUp()
    await qos.start()
    const end = run()
    await clock.advance(0)
    driver.journal.length = 0
    for (const name of ['u-1', 'u-2', 'u-3']) {
      pods.push(podOf(name, '500m'))
      qos.wake()
    }
    await clock.advance(0)
    assert.deepEqual(driver.journal, [`update ${BURSTABLE}`])
    assert.equal(driver.cgroups.get(BURSTABLE)?.cpuShares, 1536n)
    pods.length = 1
    qos.wake()
    await clock.advance(0)
    assert.equal(driver.cgroups.get(BURSTABLE)?.cpuShares, 512n)
    qos.wake()
    await clock.advance(0)
    assert.equal(driver.journal.length, 2, 'what has not changed is not written')
    await end()
  })

  test('are written again each minute, whatever another program wrote', async () => {
    const { qos, driver, clock, run } = setUp()
    await qos.start()
    const end = run()
    await clock.advance(0)
    driver.cgroups.set(BURSTABLE, { cpuShares: 7n })
    await clock.advance(60_000)
    assert.equal(driver.cgroups.get(BURSTABLE)?.cpuShares, 2n)
    await end()
  })

  test('go on after a failure', async () => {
    const { qos, driver, clock, pods, run } = setUp()
    await qos.start()
    driver.failure = new Error('EIO')
    const end = run()
    await clock.advance(0)
    driver.failure = undefined
    pods.push(podOf('u-1', '1'))
    qos.wake()
    await clock.advance(0)
    assert.equal(driver.cgroups.get(BURSTABLE)?.cpuShares, 1024n)
    await end()
  })

  test('grow no further when more memory is in use than they should have', async () => {
    const reserve = { percent: 100n, podsBytes: 1000n }
    const settings = { reserve, protectsMemory: undefined, hugepageSizes: [] }
    const { qos, driver, clock, run } = setUp({ settings, memoryUsage: () => 1500n })
    await qos.start()
    const update = driver.update.bind(driver)
    driver.update = async (cgroup, values) => {
      if (values.memoryLimitBytes !== undefined && values.memoryLimitBytes < 1500n) throw new Error('EBUSY')
      await update(cgroup, values)
    }
    const end = run()
    await clock.advance(0)
    assert.equal(driver.cgroups.get(BURSTABLE)?.memoryLimitBytes, 1500n)
    await end()
  })

  test('are not there where pods have no tree', async () => {
    const { qos, driver } = setUp({ layout: { driver: 'cgroupfs', root: '/', perQos: false } })
    await qos.start()
    await qos.run(new AbortController().signal)
    assert.deepEqual(driver.journal, [])
  })
})
