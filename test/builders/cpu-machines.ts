import type { CpuTopology } from '../../src/node/cpus/cpu-topology.ts'

interface MachineShape {
  readonly sockets?: number
  readonly nodesPerSocket?: number
  readonly coresPerNode: number
  readonly threads?: number
  readonly cachesPerNode?: number
  /** Cores are numbered from socket to socket, as some machines do. */
  readonly alternating?: boolean
}

/** A machine of this shape. Second threads are numbered after all first ones, as the kernel does. */
function createCpuTopology(shape: MachineShape): CpuTopology {
  const { sockets = 1, nodesPerSocket = 1, coresPerNode, threads = 1, cachesPerNode = 1 } = shape
  const nodes = sockets * nodesPerSocket
  const cores = nodes * coresPerNode
  const coresPerCache = coresPerNode / cachesPerNode
  return Array.from({ length: cores * threads }, (_, cpu) => {
    const core = cpu % cores
    if (shape.alternating === true) {
      const socket = core % sockets
      return { cpu, core, socket, numaNode: socket, uncoreCache: socket }
    }
    const numaNode = Math.floor(core / coresPerNode)
    const uncoreCache = Math.floor(core / coresPerCache) * coresPerCache
    return { cpu, core, numaNode, uncoreCache, socket: Math.floor(numaNode / nodesPerSocket) }
  })
}

/** Machines that are unlike each other in what counts for choosing CPUs. */
export const MACHINES = {
  small: createCpuTopology({ coresPerNode: 2 }),
  'one socket': createCpuTopology({ coresPerNode: 4, threads: 2 }),
  'two sockets': createCpuTopology({ sockets: 2, coresPerNode: 3, threads: 2, alternating: true }),
  'two sockets without threads': createCpuTopology({ sockets: 2, coresPerNode: 4 }),
  'four NUMA nodes': createCpuTopology({ sockets: 2, nodesPerSocket: 2, coresPerNode: 10, threads: 2 }),
  'four caches': createCpuTopology({ coresPerNode: 16, cachesPerNode: 4 }),
  'two caches with threads': createCpuTopology({ coresPerNode: 8, threads: 2, cachesPerNode: 2 }),
  'two sockets with two caches each': createCpuTopology({ sockets: 2, coresPerNode: 8, cachesPerNode: 2 }),
  'two NUMA nodes in a socket': createCpuTopology({ nodesPerSocket: 2, coresPerNode: 8, cachesPerNode: 2 }),
} as const satisfies Readonly<Record<string, CpuTopology>>
