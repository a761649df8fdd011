import type { CgroupReader } from '../../../system/cgroups/cgroup-reader.ts'
import type { CgroupDetails, CgroupSample, CpuThrottling, MemorySample, SampleRequest } from './cgroup-sample.ts'
import { parseFlat, parseIoStat, parseLimit, parseNumber, parsePressure } from './parse-cgroup-text.ts'

const MICROS = 1e6
const NANOS_PER_MICRO = 1000
const NOT_READ = { cpu: undefined, memory: undefined, swap: undefined, io: undefined, details: undefined }

/** A file of lines such as "anon 4096". */
type Flat = (name: string) => number

/** Reads a cgroup of the unified tree. */
export function readCgroupV2(reader: CgroupReader, cgroup: string, desired: SampleRequest): CgroupSample {
  const cpuText = reader.read('cpu', cgroup, 'cpu.stat')
  const cpu = parseFlat(cpuText)
  const usageNanos = cpu('usage_usec') * NANOS_PER_MICRO
  const cpuAlone = cpuText === undefined ? undefined : { usageNanos, pressure: undefined }
  if (desired.extent === 'cpu') return { ...NOT_READ, cpu: cpuAlone }
  const statText = reader.read('memory', cgroup, 'memory.stat')
  const stat = parseFlat(statText)
  const memory = (limits: Pick<MemorySample, 'limitBytes' | 'pressure'>) =>
    statText === undefined ? undefined : readMemory(reader, cgroup, { stat, limits })
  if (desired.extent === 'memory')
    return { ...NOT_READ, cpu: cpuAlone, memory: memory({ limitBytes: undefined, pressure: undefined }) }
  const swapUsage = parseNumber(reader.read('memory', cgroup, 'memory.swap.current'))
  const swapLimit = parseLimit(reader.read('memory', cgroup, 'memory.swap.max'))
  const pressure = (name: 'cpu' | 'io' | 'memory') =>
    desired.pressure
      ? parsePressure(reader.read(name === 'io' ? 'blkio' : name, cgroup, `${name}.pressure`))
      : undefined
  return {
    cpu: cpuText === undefined ? undefined : { usageNanos, pressure: pressure('cpu') },
    memory: memory({
      limitBytes: parseLimit(reader.read('memory', cgroup, 'memory.max')),
      pressure: pressure('memory'),
    }),
    swap: swapUsage === undefined ? undefined : { usageBytes: swapUsage, limitBytes: swapLimit },
    io: desired.pressure ? { pressure: pressure('io') } : undefined,
    details: desired.details ? readDetails(reader, cgroup, { cpu, stat, swapLimit }) : undefined,
  }
}

function readMemory(
  reader: CgroupReader,
  cgroup: string,
  { stat, limits }: { readonly stat: Flat; readonly limits: Pick<MemorySample, 'limitBytes' | 'pressure'> },
): MemorySample {
  // The root has no such file.
  const usageBytes = parseNumber(reader.read('memory', cgroup, 'memory.current')) ?? stat('anon') + stat('file')
  const inactiveFileBytes = stat('inactive_file')
  const faults = { pageFaults: stat('pgfault'), majorPageFaults: stat('pgmajfault') }
  return {
    usageBytes,
    workingSetBytes: Math.max(0, usageBytes - inactiveFileBytes),
    rssBytes: stat('anon'),
    cacheBytes: stat('file'),
    mappedBytes: stat('file_mapped'),
    activeFileBytes: stat('active_file'),
    inactiveFileBytes,
    ...faults,
    // Here the kernel only counts with all that is below.
    ownPageFaults: faults.pageFaults,
    ownMajorPageFaults: faults.majorPageFaults,
    ...limits,
  }
}

function readDetails(
  reader: CgroupReader,
  cgroup: string,
  known: { readonly cpu: Flat; readonly stat: Flat; readonly swapLimit: number | undefined },
): CgroupDetails {
  const { cpu, stat, swapLimit } = known
  const memory = (file: string) => reader.read('memory', cgroup, `memory.${file}`)
  const events = memory('events')
  const weight = parseNumber(reader.read('cpu', cgroup, 'cpu.weight'))
  const [quota, period] = (reader.read('cpu', cgroup, 'cpu.max') ?? '').trim().split(' ')
  return {
    cpuUserSeconds: cpu('user_usec') / MICROS,
    cpuSystemSeconds: cpu('system_usec') / MICROS,
    cpuShares: weight === undefined ? undefined : toShares(weight),
    cpuPeriodMicros: parseNumber(period),
    throttling: toThrottling(parseNumber(quota), cpu),
    memoryMaxUsageBytes: parseNumber(memory('peak')),
    memoryFailures: events === undefined ? undefined : parseFlat(events)('max'),
    memoryKernelBytes: stat('kernel'),
    memoryReservationBytes: parseLimit(memory('min')),
    swapLimitBytes: swapLimit,
    oomKills: events === undefined ? undefined : parseFlat(events)('oom_kill'),
    threads: parseNumber(reader.read('pids', cgroup, 'pids.current')),
    threadsLimit: parseNumber(reader.read('pids', cgroup, 'pids.max')),
    disks: parseIoStat(reader.read('blkio', cgroup, 'io.stat')),
  }
}

function toThrottling(quotaMicros: number | undefined, cpu: Flat): CpuThrottling | undefined {
  if (quotaMicros === undefined) return undefined
  return {
    quotaMicros,
    periods: cpu('nr_periods'),
    throttledPeriods: cpu('nr_throttled'),
    throttledSeconds: cpu('throttled_usec') / MICROS,
    burstPeriods: cpu('nr_bursts'),
    burstSeconds: cpu('burst_usec') / MICROS,
  }
}

/** The weights of v2, from 1 to 10000, in the shares of v1, from 2 to 262144: readers of metrics know only those. */
function toShares(weight: number): number {
  return Math.floor(2 + ((weight - 1) * 262_142) / 9999)
}
