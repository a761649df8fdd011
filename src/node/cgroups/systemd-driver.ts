import type { SystemdSlices, UnitProperty } from '../../system/cgroups/systemd-slices.ts'
import type { CgroupDriver } from './cgroup-driver.ts'
import { computeSliceProperties } from './compute-slice-properties.ts'

export interface SystemdDriverDeps {
  readonly slices: SystemdSlices
  /** Writes what systemd has no name for, and makes the folders of controllers that it does not use. */
  readonly files: CgroupDriver
  readonly version: 1 | 2
}

/** Lets systemd make cgroups, as its slices: it would remove or change those that it does not know. */
export function createSystemdDriver({ slices, files, version }: SystemdDriverDeps, signal: AbortSignal): CgroupDriver {
  return {
    exists: (cgroup) => files.exists(cgroup),
    missing: (cgroup) => files.missing(cgroup),
    async make(cgroup, values) {
      const properties = [...fixedProperties(cgroup, version), ...computeSliceProperties(version, values)]
      await slices.start(sliceOf(cgroup), properties, signal)
      await files.make(cgroup, values)
    },
    async update(cgroup, values) {
      await slices.set(sliceOf(cgroup), computeSliceProperties(version, values), signal)
      await files.update(cgroup, values)
    },
    async remove(cgroup, until) {
      if (files.exists(cgroup)) await slices.stop(sliceOf(cgroup), until)
      await files.remove(cgroup, until)
    },
  }
}

/** Accounting is what makes systemd pass a controller on. */
function fixedProperties(cgroup: string, version: 1 | 2): UnitProperty[] {
  const yes = { signature: 'b', value: true }
  const above = sliceOf(cgroup.slice(0, cgroup.lastIndexOf('/')))
  return [
    ['Description', { signature: 's', value: `cgroup of pods ${sliceOf(cgroup)}` }],
    ['DefaultDependencies', { signature: 'b', value: false }],
    ['Wants', { signature: 'as', value: [above] }],
    ['CPUAccounting', yes],
    ['MemoryAccounting', yes],
    [version === 2 ? 'IOAccounting' : 'BlockIOAccounting', yes],
    ['TasksAccounting', yes],
  ]
}

/** The slice at the end of a path; the root is called "-.slice". */
function sliceOf(cgroup: string): string {
  const name = cgroup.slice(cgroup.lastIndexOf('/') + 1)
  return name === '' ? '-.slice' : name
}
