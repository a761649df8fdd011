import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import type { CgroupDriver } from './cgroup-driver.ts'
import { measureDriver } from './measure-driver.ts'

test('measureDriver() reports what was done and how long it took, also when it failed', async () => {
  const clock = new FakeClock()
  const reported: string[] = []
  const slow = async () => await clock.sleep(1500, new AbortController().signal)
  const driver: CgroupDriver = {
    exists: () => true,
    missing: () => ['cpu'],
    make: slow,
    update: async () => {
      throw new Error('busy')
    },
    remove: async () => {},
  }
  const measured = measureDriver(driver, clock, (operation, seconds) => void reported.push(`${operation} ${seconds}`))
  const making = measured.make('/a', {})
  await clock.advance(1500)
  await making
  await assert.rejects(measured.update('/a', {}), { message: 'busy' })
  await measured.remove('/a', new AbortController().signal)
  assert.deepEqual([measured.exists('/a'), measured.missing('/a')], [true, ['cpu']])
  assert.deepEqual(reported, ['create 1.5', 'update 0', 'destroy 0'])
})
