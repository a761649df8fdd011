import type { CgroupReader } from '../../../system/cgroups/cgroup-reader.ts'
import type {
  CgroupDetails,
  CgroupSample,
  CpuThrottling,
  DiskSample,
  MemorySample,
  SampleRequest,
} from './cgroup-sample.ts'
import { parseBlkio, parseFlat, parseLimit, parseNumber } from './parse-cgroup-text.ts'

// The unit of cpuacct.stat; the same on every architecture that we run on.
const TICKS_PER_SECOND = 100
const NANOS = 1e9
const NOT_READ = { cpu: undefined, memory: undefined, swap: undefined, io: undefined, details: undefined }

/** Reads a cgroup of the old kind, whose controllers have a tree each. */
export function readCgroupV1(reader: CgroupReader, cgroup: string, desired: SampleRequest): CgroupSample {
  const usageNanos = parseNumber(reader.read('cpuacct', cgroup, 'cpuacct.usage'))
  const cpu = usageNanos === undefined ? undefined : { usageNanos, pressure: undefined }
  if (desired.extent === 'cpu') return { ...NOT_READ, cpu }
  const statText = reader.read('memory', cgroup, 'memory.stat')
  const stat = parseFlat(statText)
  const hasLimits = desired.extent === 'all'
  const memory = statText === undefined ? undefined : readMemory(reader, cgroup, { stat, hasLimits })
  if (!hasLimits) return { ...NOT_READ, cpu, memory }
  const memswLimitText = reader.read('memory', cgroup, 'memory.memsw.limit_in_bytes')
  const memswLimit = parseLimit(memswLimitText)
  return {
    cpu,
    memory,
    // Without the file the kernel does not count swap.
    swap:
      memswLimitText === undefined
        ? undefined
        : {
            usageBytes: stat('total_swap'),
            limitBytes: memswLimit === undefined ? undefined : Math.max(0, memswLimit - (memory?.limitBytes ?? 0)),
          },
    io: desired.pressure && reader.exists(cgroup, 'blkio') ? { pressure: undefined } : undefined,
    details: desired.details ? readDetails(reader, cgroup, memswLimit) : undefined,
  }
}

function readMemory(
  reader: CgroupReader,
  cgroup: string,
  { stat, hasLimits }: { readonly stat: (name: string) => number; readonly hasLimits: boolean },
): MemorySample | undefined {
  const usageBytes = parseNumber(reader.read('memory', cgroup, 'memory.usage_in_bytes'))
  if (usageBytes === undefined) return undefined
  const inactiveFileBytes = stat('total_inactive_file')
  return {
    usageBytes,
    workingSetBytes: Math.max(0, usageBytes - inactiveFileBytes),
    rssBytes: stat('total_rss'),
    cacheBytes: stat('total_cache'),
    mappedBytes: stat('total_mapped_file'),
    activeFileBytes: stat('total_active_file'),
    inactiveFileBytes,
    pageFaults: stat('total_pgfault'),
    majorPageFaults: stat('total_pgmajfault'),
    ownPageFaults: stat('pgfault'),
    ownMajorPageFaults: stat('pgmajfault'),
    limitBytes: hasLimits ? parseLimit(reader.read('memory', cgroup, 'memory.limit_in_bytes')) : undefined,
    pressure: undefined,
  }
}

function readDetails(reader: CgroupReader, cgroup: string, swapLimitBytes: number | undefined): CgroupDetails {
  const cpu = parseFlat(reader.read('cpuacct', cgroup, 'cpuacct.stat'))
  const memory = (file: string) => reader.read('memory', cgroup, `memory.${file}`)
  const oomControl = memory('oom_control')
  return {
    cpuUserSeconds: cpu('user') / TICKS_PER_SECOND,
    cpuSystemSeconds: cpu('system') / TICKS_PER_SECOND,
    cpuShares: parseNumber(reader.read('cpu', cgroup, 'cpu.shares')),
    cpuPeriodMicros: parseNumber(reader.read('cpu', cgroup, 'cpu.cfs_period_us')),
    throttling: readThrottling(reader, cgroup),
    memoryMaxUsageBytes: parseNumber(memory('max_usage_in_bytes')),
    memoryFailures: parseNumber(memory('failcnt')),
    memoryKernelBytes: parseNumber(memory('kmem.usage_in_bytes')),
    memoryReservationBytes: parseLimit(memory('soft_limit_in_bytes')),
    swapLimitBytes,
    oomKills: oomControl === undefined ? undefined : parseFlat(oomControl)('oom_kill'),
    threads: parseNumber(reader.read('pids', cgroup, 'pids.current')),
    threadsLimit: parseNumber(reader.read('pids', cgroup, 'pids.max')),
    disks: readDisks(reader, cgroup),
  }
}

/** With all that is below; old kernels count only the cgroup itself. */
function readDisks(reader: CgroupReader, cgroup: string): readonly DiskSample[] {
  const read = (name: string) =>
    reader.read('blkio', cgroup, `blkio.throttle.${name}_recursive`) ??
    reader.read('blkio', cgroup, `blkio.throttle.${name}`)
  return parseBlkio(read('io_service_bytes'), read('io_serviced'))
}

function readThrottling(reader: CgroupReader, cgroup: string): CpuThrottling | undefined {
  const quotaMicros = parseNumber(reader.read('cpu', cgroup, 'cpu.cfs_quota_us'))
  if (quotaMicros === undefined || quotaMicros <= 0) return undefined
  const stat = parseFlat(reader.read('cpu', cgroup, 'cpu.stat'))
  return {
    quotaMicros,
    periods: stat('nr_periods'),
    throttledPeriods: stat('nr_throttled'),
    throttledSeconds: stat('throttled_time') / NANOS,
    burstPeriods: stat('nr_bursts'),
    burstSeconds: stat('burst_time') / NANOS,
  }
}
