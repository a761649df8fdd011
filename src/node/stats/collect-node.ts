import { qosCgroupPaths } from '../../model/resources/cgroup-names.ts'
import type { CgroupSampler } from './sampling/cgroup-sampler.ts'
import type { RuntimeFileSystems } from './collect-disk.ts'
import { parseNumber } from './sampling/parse-cgroup-text.ts'
import { parseNetDev } from './sampling/parse-net-dev.ts'
import type { StatsDeps } from './stats-deps.ts'
import type { NodeUsage, StatsPart } from './stats-snapshot.ts'

type NodeDeps = Pick<StatsDeps, 'files' | 'layout' | 'systemCgroups' | 'machine' | 'rootDirectory' | 'pressure'>

/** What is needed to measure the node. */
export interface NodeObservation {
  readonly deps: NodeDeps
  readonly sampler: CgroupSampler
  readonly parts: ReadonlySet<StatsPart>
  readonly fileSystems: RuntimeFileSystems | undefined
}

const ROOT = '/'

/** Reads what the machine and its own programs use. */
export async function collectNode({ deps, sampler, parts, fileSystems }: NodeObservation): Promise<NodeUsage> {
  const { files, layout, systemCgroups, machine, rootDirectory, pressure } = deps
  const desired = { details: parts.has('details'), pressure }
  const sample = (path: string) => sampler.sample(path, desired)
  const root = sample(ROOT)
  if (root === undefined) throw new Error('Cannot read the root cgroup: neither cpu nor memory is counted')
  const [pods, ...qos] = layout.perQos ? qosCgroupPaths(layout) : []
  const system = [...Object.entries(systemCgroups), ['pods', pods]] as [
    NodeUsage['system'][number]['name'],
    string | undefined,
  ][]
  return {
    startedAt: bootTime(files.kernelFile('/proc/stat')),
    memoryCapacityBytes: Number(machine.memoryBytes),
    swap: readSwap(files.kernelFile('/proc/meminfo')),
    root,
    system: system.flatMap(([name, path]) => {
      const cgroup = path === undefined ? undefined : sample(path)
      return cgroup === undefined ? [] : [{ name, cgroup }]
    }),
    qos: qos.flatMap((path) => sample(path) ?? []),
    interfaces: parseNetDev(files.kernelFile('/proc/self/net/dev') ?? ''),
    fs: await files.fileSystem(rootDirectory),
    imageFs: fileSystems?.imageFs,
    containerFs: fileSystems?.containerFs,
    processes: readProcesses(files),
    disks: parts.has('details') ? parsePartitions(files.kernelFile('/proc/partitions')) : new Map(),
  }
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
function readProcesses(files: NodeDeps['files']): NodeUsage['processes'] {
  const limits = ['pid_max', 'threads-max'].map((name) => parseNumber(files.kernelFile(`/proc/sys/kernel/${name}`)))
  const count = Number(/ \d+\/(\d+) /.exec(files.kernelFile('/proc/loadavg') ?? '')?.[1] ?? 0)
  return { limit: Math.min(...limits.map((limit) => limit ?? Number.POSITIVE_INFINITY)), count }
}

/** Lines of major, minor, blocks and name. */
function parsePartitions(text: string | undefined): ReadonlyMap<string, string> {
  const lines = (text ?? '').split('\n').map((line) => line.trim().split(/\s+/))
  return new Map(lines.flatMap(([major, minor, , name]) => (name === undefined ? [] : [[`${major}:${minor}`, name]])))
}
