import type { CgroupDriver } from '../../src/node/cgroups/cgroup-driver.ts'
import type { CgroupValues } from '../../src/model/resources/cgroup-values.ts'

/** Cgroups in memory: which there are, and what was written last into each. */
export class FakeCgroupDriver implements CgroupDriver {
  readonly cgroups = new Map<string, CgroupValues>()
  /** What was done, in order: "make /a", "update /a", "remove /a". */
  readonly journal: string[] = []
  /** Thrown by the next make() or update(), and by those after it, until it is taken away. */
  failure: Error | undefined

  constructor(...cgroups: readonly string[]) {
    for (const cgroup of cgroups) this.cgroups.set(cgroup, {})
  }

  exists(cgroup: string): boolean {
    return this.cgroups.has(cgroup)
  }

  missing(cgroup: string): readonly string[] {
    return this.cgroups.has(cgroup) ? [] : ['memory']
  }

  async make(cgroup: string, values: CgroupValues): Promise<void> {
    this.#note(`make ${cgroup}`)
    this.cgroups.set(cgroup, values)
  }

  async update(cgroup: string, values: CgroupValues): Promise<void> {
    this.#note(`update ${cgroup}`)
    this.cgroups.set(cgroup, { ...this.cgroups.get(cgroup), ...values })
  }

  async remove(cgroup: string): Promise<void> {
    if (this.cgroups.delete(cgroup)) this.#note(`remove ${cgroup}`)
  }

  #note(line: string): void {
    this.journal.push(line)
    if (this.failure !== undefined) throw this.failure
  }
}
