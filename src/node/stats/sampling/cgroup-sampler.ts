import type { Clock } from '../../../base/async/clock.ts'
import type { CgroupReader } from '../../../system/cgroups/cgroup-reader.ts'
import type { SampleRequest } from './cgroup-sample.ts'
import { computeNanoCores } from '../compute-nano-cores.ts'
import type { CpuReading } from '../compute-nano-cores.ts'
import { readCgroupV1 } from './read-cgroup-v1.ts'
import { readCgroupV2 } from './read-cgroup-v2.ts'
import type { CgroupUsage } from '../stats-snapshot.ts'

/** Reads cgroups, and remembers of each what it takes to know how much cpu it uses. */
export class CgroupSampler {
  readonly #cgroups: CgroupReader
  readonly #clock: Clock
  #before = new Map<string, CpuReading>()
  #now = new Map<string, CpuReading>()

  constructor(cgroups: CgroupReader, clock: Clock) {
    this.#cgroups = cgroups
    this.#clock = clock
  }

  /** The cpu that something else than a cgroup uses, by its sum until now. */
  rate(key: string, usageNanos: number): number | undefined {
    const reading = computeNanoCores(this.#before.get(key), { at: this.#clock.monotonic(), usageNanos })
    this.#now.set(key, reading)
    return reading.nanoCores
  }

  /** Undefined when there is no such cgroup. */
  sample(path: string, desired: SampleRequest): CgroupUsage | undefined {
    const read = this.#cgroups.version === 2 ? readCgroupV2 : readCgroupV1
    const sample = read(this.#cgroups, path, desired)
    if (sample.cpu === undefined && sample.memory === undefined) return undefined
    const at = this.#clock.monotonic()
    const reading = computeNanoCores(this.#before.get(path), { at, usageNanos: sample.cpu?.usageNanos ?? 0 })
    this.#now.set(path, reading)
    return { path, time: this.#clock.now(), sample, nanoCores: reading.nanoCores }
  }

  /** Begins a pass, and drops an earlier one that did not reach its end. */
  beginPass(): void {
    this.#now = new Map()
  }

  /** Ends a pass. Cgroups that were not sampled in one over all of them are forgotten. */
  endPass({ isOverAll }: { readonly isOverAll: boolean }): void {
    this.#before = isOverAll ? this.#now : new Map([...this.#before, ...this.#now])
    this.#now = new Map()
  }

  get size(): number {
    return this.#before.size
  }
}
