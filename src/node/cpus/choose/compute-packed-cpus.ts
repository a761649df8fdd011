import type { CpuSet } from '../../../model/resources/cpu-set.ts'
import { groupCpus, threadsPerCore } from '../cpu-topology.ts'
import type { CpuLevel, CpuTopology } from '../cpu-topology.ts'
import type { CpuPlace } from '../../../model/resources/cpu-place.ts'

export interface CpuRequest {
  readonly available: CpuSet
  readonly count: number
  /** One CPU of each core before the second of any. */
  readonly spreadOverCores: boolean
  /** As few last-level caches as possible. */
  readonly byUncoreCache: boolean
}

/**
 * Chooses CPUs that are near each other: whole sockets and NUMA nodes, then caches, whole cores, single CPUs. What is fuller already is
 * filled first, so that large free parts stay whole. Undefined when there are too few.
 */
export function computePackedCpus(topology: CpuTopology, desired: CpuRequest): CpuSet | undefined {
  if (desired.count > desired.available.size) return undefined
  const packing = new Packing(topology, desired)
  const [larger, smaller] = packing.widest
  packing.takeWhole(larger)
  packing.takeWhole(smaller)
  if (desired.byUncoreCache) takeFromCaches(packing, topology)
  if (!desired.spreadOverCores) packing.takeWhole('core')
  packing.takeSingle(desired.spreadOverCores ? 'socket' : 'core')
  return packing.taken
}

/** What is taken and what is left to take while CPUs are being chosen. */
class Packing {
  readonly #topology: CpuTopology
  #free: readonly CpuPlace[]
  #needed: number
  readonly taken = new Set<number>()
  /** Of sockets and NUMA nodes what is larger on this machine, then the other. */
  readonly widest: readonly ['numaNode' | 'socket', 'numaNode' | 'socket']

  constructor(topology: CpuTopology, { available, count }: CpuRequest) {
    this.#topology = topology
    this.#free = topology.filter(({ cpu }) => available.has(cpu))
    this.#needed = count
    const nodesAreLarger = groupCpus(topology, 'socket').size >= groupCpus(topology, 'numaNode').size
    this.widest = nodesAreLarger ? ['numaNode', 'socket'] : ['socket', 'numaNode']
  }

  get needed(): number {
    return this.#needed
  }

  get free(): readonly CpuPlace[] {
    return this.#free
  }

  take(cpus: CpuSet): void {
    for (const cpu of cpus) this.taken.add(cpu)
    this.#free = this.#free.filter(({ cpu }) => !cpus.has(cpu))
    this.#needed -= cpus.size
  }

  /** Takes whole parts that are entirely free, as long as all of a part is needed. */
  takeWhole(level: CpuLevel): void {
    const whole = groupCpus(this.#topology, level)
    const free = groupCpus(this.#free, level)
    for (const id of this.order(level)) {
      const cpus = whole.get(id) ?? new Set()
      if (free.get(id)?.size === cpus.size && this.#needed >= cpus.size) this.take(cpus)
    }
  }

  takeSingle(within: 'core' | 'socket'): void {
    const groups = groupCpus(this.#free, within)
    const cpus = this.order(within).flatMap((id) => [...(groups.get(id) ?? [])].sort((a, b) => a - b))
    this.take(new Set(cpus.slice(0, this.#needed)))
  }

  /** The parts of a level in which something is free: those with the least first, inside the order of what they are parts of. */
  order(level: CpuLevel): readonly number[] {
    const [larger, smaller] = this.widest
    if (level === larger) return byRoom(this.#free, level)
    const above = level === smaller ? larger : level === 'core' ? smaller : 'numaNode'
    const ordered = this.order(above).flatMap((id) => byRoom(this.#free, level, (place) => place[above] === id))
    return [...new Set(ordered)]
  }
}

/** The parts by what is free in all of them, of those that have something free where it is asked for. */
function byRoom(
  free: readonly CpuPlace[],
  level: CpuLevel,
  isWanted: (place: CpuPlace) => boolean = () => true,
): readonly number[] {
  const groups = groupCpus(free, level)
  const room = (id: number) => groups.get(id)?.size ?? 0
  return [...groupCpus(free.filter(isWanted), level).keys()].sort((a, b) => room(a) - room(b) || a - b)
}

/** Whole caches while all of one is needed, and the rest from one cache if it has enough. */
function takeFromCaches(packing: Packing, topology: CpuTopology): void {
  const averageSize = Math.floor(topology.length / groupCpus(topology, 'uncoreCache').size)
  for (const cache of packing.order('uncoreCache')) {
    if (packing.needed >= averageSize) packing.takeWhole('uncoreCache')
    if (packing.needed === 0) return
    const cpus = chooseInCache(packing, cache, threadsPerCore(topology))
    if (cpus !== undefined) packing.take(cpus)
    if (packing.needed === 0) return
  }
}

/** The lowest cores of a cache, when they are just what is needed; of an odd number all but the last CPU. */
function chooseInCache({ needed, free }: Packing, cache: number, threads: number): CpuSet | undefined {
  const cores = groupCpus(
    free.filter(({ uncoreCache }) => uncoreCache === cache),
    'core',
  )
  const lowest = [...cores.keys()].sort((a, b) => a - b).slice(0, Math.ceil(needed / threads))
  const cpus = lowest.flatMap((core) => [...(cores.get(core) ?? [])]).sort((a, b) => a - b)
  const surplus = needed % 2 !== 0 && threads > 1 && cpus.length > needed ? 1 : 0
  const chosen = cpus.slice(0, cpus.length - surplus)
  return chosen.length === needed ? new Set(chosen) : undefined
}
