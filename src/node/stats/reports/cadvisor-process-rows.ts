import { gauge, row } from './cadvisor-row.ts'
import type { CadvisorRow } from './cadvisor-row.ts'

const TASK_STATES = ['sleeping', 'running', 'stopped', 'uninterruptible', 'iowaiting'] as const

/** The metrics of /metrics/cadvisor about processes. */
export const CADVISOR_PROCESS_ROWS: readonly CadvisorRow[] = [
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
