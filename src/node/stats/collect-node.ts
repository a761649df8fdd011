import { qosCgroupPaths } from '../../model/resources/cgroup-names.ts'
import type { CgroupSampler } from './sampling/cgroup-sampler.ts'
import type { RuntimeFileSystems } from './collect-disk.ts'
import { listOwnProcesses } from './sampling/list-processes.ts'
import { parseNumber, parsePressure } from './sampling/parse-cgroup-text.ts'
import { parseDiskStats } from './sampling/parse-disk-stats.ts'
import { readProcesses } from './sampling/read-processes.ts'
import type { DescriptorBudget } from './sampling/read-processes.ts'
import { parseNetDev } from './sampling/parse-net-dev.ts'
import type { StatsDeps } from './stats-deps.ts'
import type { CgroupUsage, NodeUsage, StatsPart, SystemContainer } from './stats-snapshot.ts'

type NodeDeps = Pick<
  StatsDeps,
  'files' | 'cgroups' | 'layout' | 'systemCgroups' | 'machine' | 'rootDirectory' | 'pressure'
>

/** What is needed to measure the node. */
export interface NodeObservation {
  readonly deps: NodeDeps
  readonly sampler: CgroupSampler
  readonly budget: DescriptorBudget
  readonly parts: ReadonlySet<StatsPart>
  readonly fileSystems: RuntimeFileSystems | undefined
}

const ROOT = '/'
const FIRST_PROCESS = 1

/** Reads what the machine and its own programs use. */
export async function collectNode(observation: NodeObservation): Promise<NodeUsage> {
  const { deps, parts, fileSystems } = observation
  const { files, layout, systemCgroups, machine, rootDirectory } = deps
  const root = await sample(observation, ROOT, FIRST_PROCESS)
  if (root === undefined) throw new Error('Cannot read the root cgroup: neither cpu nor memory is counted')
  const [pods, ...qos] = layout.perQos ? qosCgroupPaths(layout) : []
  const system = [...Object.entries(systemCgroups), ['pods', pods]] as SystemPath[]
  return {
    startedAt: bootTime(files.kernelFile('/proc/stat')),
    memoryCapacityBytes: Number(machine.memoryBytes),
    swap: readSwap(files.kernelFile('/proc/meminfo')),
    root: deps.pressure ? withMachinePressure(root, files) : root,
    system: await sampleSystem(observation, system),
    qos: (await Array.fromAsync(qos, (path) => sample(observation, path))).filter((cgroup) => cgroup !== undefined),
    interfaces: parseNetDev(files.kernelFile('/proc/self/net/dev') ?? ''),
    fs: await files.fileSystem(rootDirectory),
    imageFs: fileSystems?.imageFs,
    containerFs: fileSystems?.containerFs,
    processes: readThreads(files),
    disks: parts.has('details') ? parseDiskStats(files.kernelFile('/proc/diskstats')) : new Map(),
  }
}

type SystemPath = readonly [name: SystemContainer, path: string | undefined]

async function sampleSystem(observation: NodeObservation, paths: readonly SystemPath[]): Promise<NodeUsage['system']> {
  const found: NodeUsage['system'][number][] = []
  for (const [name, path] of paths) {
    const cgroup = path === undefined ? undefined : await sample(observation, path)
    if (cgroup !== undefined) found.push({ name, cgroup })
  }
  return found
}

/** With its own processes, not those of cgroups below it, which are counted there. */
async function sample(
  { deps, sampler, parts, budget }: NodeObservation,
  path: string,
  first?: number,
): Promise<CgroupUsage | undefined> {
  const details = parts.has('details')
  const cgroup = sampler.sample(path, { extent: 'all', details, pressure: deps.pressure })
  if (cgroup === undefined || !details) return cgroup
  const pids = listOwnProcesses(deps.cgroups, path)
  return { ...cgroup, processes: await readProcesses(deps.files, { pids, first, budget }) }
}

/** Cgroups v1 count no pressure, the kernel does for the whole machine. */
function withMachinePressure(root: CgroupUsage, files: NodeDeps['files']): CgroupUsage {
  const read = (name: 'cpu' | 'io' | 'memory') => parsePressure(files.kernelFile(`/proc/pressure/${name}`))
  const { cpu, memory, io } = root.sample
  const sampled = {
    ...root.sample,
    cpu: cpu && { ...cpu, pressure: cpu.pressure ?? read('cpu') },
    memory: memory && { ...memory, pressure: memory.pressure ?? read('memory') },
    io: io && { ...io, pressure: io.pressure ?? read('io') },
  }
  return { ...root, sample: sampled }
}

function bootTime(text: string | undefined): number {
  return Number(/^btime (\d+)$/m.exec(text ?? '')?.[1] ?? 0) * 1000
}

function readSwap(meminfo: string | undefined): NodeUsage['swap'] {
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(meminfo ?? '')?.[1] ?? 0) * 1024
  const capacityBytes = bytes('SwapTotal')
  return { capacityBytes, usageBytes: capacityBytes - bytes('SwapFree') }
}

/** Threads, as the kernel's limits mean them. */
function readThreads(files: NodeDeps['files']): NodeUsage['processes'] {
  const limits = ['pid_max', 'threads-max'].map((name) => parseNumber(files.kernelFile(`/proc/sys/kernel/${name}`)))
  const count = Number(/ \d+\/(\d+) /.exec(files.kernelFile('/proc/loadavg') ?? '')?.[1] ?? 0)
  return { limit: Math.min(...limits.map((limit) => limit ?? Number.POSITIVE_INFINITY)), count }
}
