import { formatLabels } from './stats-family.ts'
import type { StatsFamily } from './stats-family.ts'

/** What does not change while the machine runs. */
export interface MachineIdentity {
  readonly machineId: string
  readonly systemUuid: string
  readonly bootId: string
  readonly kernelVersion: string
  readonly osImage: string
  readonly cores: number
  readonly physicalCores: number
  readonly sockets: number
  readonly memoryBytes: number
  readonly swapBytes: number
  readonly numaNodes: readonly NumaNode[]
  readonly caches: readonly CpuCache[]
  readonly memoryModules: readonly MemoryModules[]
}

interface NumaNode {
  readonly id: number
  readonly memoryBytes: bigint
  readonly hugepages: readonly { readonly sizeBytes: bigint; readonly count: bigint }[]
  /** How far the memory of each node is. */
  readonly distances: ReadonlyMap<number, number>
}

interface CpuCache {
  readonly numaNode: number
  /** Undefined: of the whole node. */
  readonly core: number | undefined
  readonly level: number
  readonly type: string
  readonly sizeBytes: number
}

interface MemoryModules {
  readonly type: string
  readonly count: number
  readonly capacityBytes: number
}

type Labels = Readonly<Record<string, string>>
type MachineValue = readonly [labels: Labels, value: number]

const KIBIBYTE = 1024n

/** The metrics of /metrics/cadvisor about the machine itself. */
export function* computeMachineMetrics(machine: MachineIdentity): Generator<StatsFamily> {
  const { machineId: machine_id, systemUuid: system_uuid, bootId: boot_id } = machine
  const family = (name: string, help: string, values: readonly MachineValue[]): StatsFamily => ({
    name: `machine_${name}`,
    help,
    type: 'gauge',
    samples: values.map(([labels, value]) => ({
      labels: formatLabels({ machine_id, system_uuid, boot_id, ...labels }),
      value,
    })),
  })
  const single = (name: string, help: string, value: number) => family(name, help, [[{}, value]])
  // Only mainframes have books and drawers, on which we do not run.
  yield single('cpu_books', 'Cpu books', 0)
  yield family('cpu_cache_capacity_bytes', 'Caches of a core, or of a NUMA node', machine.caches.map(toCacheValue))
  yield single('cpu_cores', 'Logical cpus', machine.cores)
  yield single('cpu_drawers', 'Cpu drawers', 0)
  yield single('cpu_physical_cores', 'Cpu cores', machine.physicalCores)
  yield single('cpu_sockets', 'Cpu sockets', machine.sockets)
  yield family('dimm_capacity_bytes', 'Size of all memory modules of a type', moduleValues(machine, 'capacityBytes'))
  yield family('dimm_count', 'Memory modules of a type', moduleValues(machine, 'count'))
  yield single('memory_bytes', 'Memory of the machine', machine.memoryBytes)
  yield* numaMetrics(machine.numaNodes, family)
  // It takes a library of the vendor to find such memory, which the Go kubelet is built without too.
  yield single('nvm_avg_power_budget_watts', 'Power for persistent memory, not measured', 0)
  yield family('nvm_capacity', 'Persistent memory, not measured', [
    [{ mode: 'memory_mode' }, 0],
    [{ mode: 'app_direct_mode' }, 0],
  ])
  const failed = '1 if there was an error while getting machine metrics, 0 otherwise.'
  yield { name: 'machine_scrape_error', help: failed, type: 'gauge', samples: [{ labels: '', value: 0 }] }
  yield single('swap_bytes', 'Swap of the machine', machine.swapBytes)
}

function* numaMetrics(
  nodes: readonly NumaNode[],
  family: (name: string, help: string, values: readonly MachineValue[]) => StatsFamily,
): Generator<StatsFamily> {
  const each = (values: (node: NumaNode) => readonly MachineValue[]) =>
    nodes.flatMap((node) =>
      values(node).map(([labels, value]): MachineValue => [{ node_id: String(node.id), ...labels }, value]),
    )
  yield family(
    'node_distance',
    'How far the memory of another NUMA node is',
    each(({ distances }) => [...distances].map(([id, distance]) => [{ target_node_id: String(id) }, distance])),
  )
  yield family(
    'node_hugepages_count',
    'Huge pages of a NUMA node, by their size in kB',
    each(({ hugepages }) =>
      hugepages.map(({ sizeBytes, count }) => [{ page_size: String(sizeBytes / KIBIBYTE) }, Number(count)]),
    ),
  )
  yield family(
    'node_memory_capacity_bytes',
    'Memory of a NUMA node',
    each(({ memoryBytes }) => [[{}, Number(memoryBytes)]]),
  )
}

function toCacheValue({ numaNode, core, level, type, sizeBytes }: CpuCache): MachineValue {
  const core_id = core === undefined ? '' : String(core)
  return [{ node_id: String(numaNode), core_id, type, level: String(level) }, sizeBytes]
}

function moduleValues({ memoryModules }: MachineIdentity, field: 'count' | 'capacityBytes'): readonly MachineValue[] {
  return memoryModules.map((modules) => [{ type: modules.type }, modules[field]])
}
