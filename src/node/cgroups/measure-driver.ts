import type { Clock } from '../../base/async/clock.ts'
import type { CgroupDriver } from './cgroup-driver.ts'

/** Called after each operation on a cgroup with how long it took; also when it failed. */
export type OnCgroupWork = (operation: 'create' | 'update' | 'destroy', seconds: number) => void

/** The same driver, with each operation measured. */
export function measureDriver(driver: CgroupDriver, clock: Clock, onWork: OnCgroupWork): CgroupDriver {
  const timed = async (operation: Parameters<OnCgroupWork>[0], work: Promise<void>) => {
    const startedAt = clock.monotonic()
    try {
      await work
    } finally {
      onWork(operation, (clock.monotonic() - startedAt) / 1000)
    }
  }
  return {
    exists: (cgroup) => driver.exists(cgroup),
    missing: (cgroup) => driver.missing(cgroup),
    make: (cgroup, values) => timed('create', driver.make(cgroup, values)),
    update: (cgroup, values) => timed('update', driver.update(cgroup, values)),
    remove: (cgroup, signal) => timed('destroy', driver.remove(cgroup, signal)),
  }
}
