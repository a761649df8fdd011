import type { CpuThrottling, Pressure } from '../sampling/cgroup-sample.ts'
import type { InterfaceCounters } from '../sampling/parse-net-dev.ts'
import { CADVISOR_DISK_ROWS } from './cadvisor-disk-rows.ts'
import { counter, gauge, row, setting } from './cadvisor-row.ts'
import type { CadvisorRow } from './cadvisor-row.ts'
import type { CadvisorSubject } from './cadvisor-subjects.ts'

const TASK_STATES = ['sleeping', 'running', 'stopped', 'uninterruptible', 'iowaiting'] as const

/** The metrics of /metrics/cadvisor about processes. */
const CADVISOR_PROCESS_ROWS: readonly CadvisorRow[] = [
  // The Go kubelet has these too, and never measures them: dashboards that name them find the same.
  gauge('cpu_load_average_10s', 'Not measured, always 0', () => 0),
  gauge('cpu_load_d_average_10s', 'Not measured, always 0', () => 0),
  row('tasks_state', 'Not measured, always 0', 'gauge', () =>
    TASK_STATES.map((state) => ({ value: 0, extra: { state } })),
  ),
  gauge('health_state', 'Not measured, always -1: containers have probes instead', () => -1),
  gauge('processes', 'Processes that run', ({ cgroup }) => cgroup.processes?.processes),
  gauge('file_descriptors', 'Files that are open', ({ cgroup }) => cgroup.processes?.descriptors),
  gauge('sockets', 'Sockets that are open', ({ cgroup }) => cgroup.processes?.sockets),
  gauge('threads', 'Threads that run', ({ cgroup }) => cgroup.sample.details?.threads),
  gauge(
    'threads_max',
    'Threads that may run, 0 without a limit',
    ({ cgroup: { sample } }) => sample.details && (sample.details.threadsLimit ?? 0),
  ),
  row('ulimits_soft', 'Soft limits of the first process, -1 without a limit', 'gauge', ({ cgroup }) => [
    { value: cgroup.processes?.openFilesLimit, extra: { ulimit: 'max_open_files' } },
  ]),
]

const memory = ({ cgroup }: CadvisorSubject) => cgroup.sample.memory
const details = ({ cgroup }: CadvisorSubject) => cgroup.sample.details

const throttled = (name: string, help: string, one: (throttling: CpuThrottling) => number) =>
  counter(`cpu_cfs_${name}`, help, (subject) => {
    const throttling = details(subject)?.throttling
    return throttling === undefined ? undefined : one(throttling)
  })

const network = (name: string, help: string, one: (counters: InterfaceCounters) => number) =>
  row(`network_${name}_total`, help, 'counter', ({ interfaces }) =>
    interfaces.map((counters) => ({ value: one(counters), extra: { interface: counters.name } })),
  )

const pressure = (resource: string, of: (subject: CadvisorSubject) => Pressure | undefined) =>
  (
    [
      ['waiting', 'some'],
      ['stalled', 'full'],
    ] as const
  ).map(([word, kind]) =>
    counter(
      `pressure_${resource}_${word}_seconds_total`,
      `Time in which ${kind === 'some' ? 'some' : 'all'} tasks waited for ${resource}`,
      (subject) => {
        const micros = of(subject)?.[kind].total
        return micros === undefined ? undefined : micros / 1e6
      },
    ),
  )

const CGROUP_ROWS: readonly CadvisorRow[] = [
  throttled('burst_periods_total', 'Periods in which more than the quota was used', ({ burstPeriods }) => burstPeriods),
  throttled('burst_seconds_total', 'Time used above the quota', ({ burstSeconds }) => burstSeconds),
  throttled('periods_total', 'Periods of the cpu quota that have passed', ({ periods }) => periods),
  throttled('throttled_periods_total', 'Periods in which the quota was used up', (cpu) => cpu.throttledPeriods),
  throttled('throttled_seconds_total', 'Time in which nothing ran because of the quota', (cpu) => cpu.throttledSeconds),
  counter('cpu_system_seconds_total', 'Cpu time in the kernel', (subject) => details(subject)?.cpuSystemSeconds),
  row('cpu_usage_seconds_total', 'Cpu time in all', 'counter', ({ cgroup }) => {
    const nanos = cgroup.sample.cpu?.usageNanos
    return nanos === undefined ? [] : [{ value: nanos / 1e9, extra: { cpu: 'total' } }]
  }),
  counter('cpu_user_seconds_total', 'Cpu time outside the kernel', (subject) => details(subject)?.cpuUserSeconds),
  gauge('last_seen', 'Last time a container was seen by the exporter', ({ cgroup }) => Math.floor(cgroup.time / 1000)),
  gauge('memory_cache', 'Files that are kept in memory, in bytes', (subject) => memory(subject)?.cacheBytes),
  counter('memory_failcnt', 'How often the memory limit was hit', (subject) => details(subject)?.memoryFailures),
  row('memory_failures_total', 'Page faults', 'counter', (subject) => {
    const sample = memory(subject)
    return [
      { value: sample?.ownPageFaults, extra: { failure_type: 'pgfault', scope: 'container' } },
      { value: sample?.pageFaults, extra: { failure_type: 'pgfault', scope: 'hierarchy' } },
      { value: sample?.ownMajorPageFaults, extra: { failure_type: 'pgmajfault', scope: 'container' } },
      { value: sample?.majorPageFaults, extra: { failure_type: 'pgmajfault', scope: 'hierarchy' } },
    ]
  }),
  gauge(
    'memory_kernel_usage',
    'What the kernel uses for it, in bytes',
    (subject) => details(subject)?.memoryKernelBytes,
  ),
  gauge('memory_mapped_file', 'Files that are mapped, in bytes', (subject) => memory(subject)?.mappedBytes),
  gauge('memory_max_usage_bytes', 'The most it ever used', (subject) => details(subject)?.memoryMaxUsageBytes),
  gauge('memory_rss', 'Memory of its own, in bytes', (subject) => memory(subject)?.rssBytes),
  gauge('memory_swap', 'What of it is swapped out, in bytes', ({ cgroup }) => cgroup.sample.swap?.usageBytes),
  gauge('memory_total_active_file_bytes', 'Files that are in use', (subject) => memory(subject)?.activeFileBytes),
  gauge('memory_total_inactive_file_bytes', 'Files not in use', (subject) => memory(subject)?.inactiveFileBytes),
  gauge('memory_usage_bytes', 'All memory that it uses', (subject) => memory(subject)?.usageBytes),
  gauge('memory_working_set_bytes', 'Memory that is in use', (subject) => memory(subject)?.workingSetBytes),
  network('receive_bytes', 'Bytes received', ({ rxBytes }) => rxBytes),
  network('receive_errors', 'Errors while receiving', ({ rxErrors }) => rxErrors),
  network('receive_packets_dropped', 'Packets dropped while receiving', ({ rxDropped }) => rxDropped),
  network('receive_packets', 'Packets received', ({ rxPackets }) => rxPackets),
  network('transmit_bytes', 'Bytes sent', ({ txBytes }) => txBytes),
  network('transmit_errors', 'Errors while sending', ({ txErrors }) => txErrors),
  network('transmit_packets_dropped', 'Packets dropped while sending', ({ txDropped }) => txDropped),
  network('transmit_packets', 'Packets sent', ({ txPackets }) => txPackets),
  counter('oom_events_total', 'Processes killed for want of memory', (subject) => details(subject)?.oomKills),
  ...pressure('cpu', ({ cgroup }) => cgroup.sample.cpu?.pressure),
  ...pressure('io', ({ cgroup }) => cgroup.sample.io?.pressure),
  ...pressure('memory', (subject) => memory(subject)?.pressure),
  setting('spec_cpu_period', 'Period of the cpu quota in microseconds', (subject) => details(subject)?.cpuPeriodMicros),
  setting('spec_cpu_quota', 'Cpu quota in microseconds', (subject) => details(subject)?.throttling?.quotaMicros),
  setting('spec_cpu_shares', 'Share of the cpu', (subject) => details(subject)?.cpuShares),
  // 0 is no limit.
  setting(
    'spec_memory_limit_bytes',
    'Memory limit',
    (subject) => memory(subject) && (memory(subject)?.limitBytes ?? subject.capacity?.memoryBytes ?? 0),
  ),
  setting(
    'spec_memory_reservation_limit_bytes',
    'Memory that it keeps when memory is short',
    (subject) => details(subject) && (details(subject)?.memoryReservationBytes ?? 0),
  ),
  setting(
    'spec_memory_swap_limit_bytes',
    'Swap limit',
    (subject) => details(subject) && (details(subject)?.swapLimitBytes ?? subject.capacity?.swapBytes ?? 0),
  ),
  setting('start_time_seconds', 'When it was started', ({ startedAt }) =>
    startedAt > 0 ? startedAt / 1000 : undefined,
  ),
]

/** All metrics of /metrics/cadvisor that something with a cgroup has, in the order of their names. */
export const CADVISOR_TABLE: readonly CadvisorRow[] = [
  ...CGROUP_ROWS,
  ...CADVISOR_DISK_ROWS,
  ...CADVISOR_PROCESS_ROWS,
].toSorted((a, b) => (a.name < b.name ? -1 : 1))
