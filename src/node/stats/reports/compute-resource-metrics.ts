import type { StatsFamily, MetricSample } from './stats-family.ts'
import { formatLabels } from './stats-family.ts'
import type { CgroupUsage, StatsSnapshot } from '../stats-snapshot.ts'

const NANOS = 1e9

/** A sample of something that has a cgroup, at the time when that was read. */
type Measure = (cgroup: CgroupUsage) => number | undefined

interface Subject {
  readonly labels: string
  readonly cgroup: CgroupUsage
  readonly startedAt: number
}

const cpuSeconds: Measure = ({ sample }) => (sample.cpu === undefined ? undefined : sample.cpu.usageNanos / NANOS)
const workingSet: Measure = ({ sample }) => sample.memory?.workingSetBytes
const swapUsage: Measure = ({ sample }) => sample.swap?.usageBytes
const swapLimit: Measure = ({ sample }) => sample.swap?.limitBytes

/** The metrics of /metrics/resource, which metrics-server reads; undefined when the node could not be measured. */
export function computeResourceMetrics(
  snapshot: StatsSnapshot | undefined,
  { showHidden = false }: { /** Also what is on its way out. */ readonly showHidden?: boolean } = {},
): readonly StatsFamily[] {
  const value = snapshot === undefined ? 1 : 0
  const failure = (name: string, help: string): StatsFamily => ({
    name,
    help,
    type: 'gauge',
    samples: [{ labels: '', value }],
  })
  const errors = [
    failure('resource_scrape_error', '[STABLE] 1 if there was an error while getting container metrics, 0 otherwise'),
    ...(showHidden
      ? [failure('scrape_error', '[ALPHA] (Deprecated since 1.29.0) The old name of resource_scrape_error')]
      : []),
  ]
  if (snapshot === undefined) return errors
  return [...containerMetrics(snapshot), ...nodeMetrics(snapshot), ...podMetrics(snapshot), ...errors]
}

function containerMetrics({ pods }: StatsSnapshot): readonly StatsFamily[] {
  const subjects = pods.flatMap(({ name: pod, namespace, containers }) =>
    containers.flatMap(({ name: container, cgroup, startedAt }): Subject[] =>
      cgroup === undefined ? [] : [{ labels: formatLabels({ container, pod, namespace }), cgroup, startedAt }],
    ),
  )
  const of = (name: string, help: string, measure: Measure, type: StatsFamily['type'] = 'gauge') =>
    toFamily({ name: `container_${name}`, help, type }, subjects, measure)
  return [
    of('cpu_usage_seconds_total', '[STABLE] Cpu time that the container used, in core seconds', cpuSeconds, 'counter'),
    of('memory_working_set_bytes', '[STABLE] Working set of the container in bytes', workingSet),
    {
      name: 'container_start_time_seconds',
      help: '[STABLE] When the container was started, in seconds since the epoch',
      type: 'gauge',
      samples: subjects.flatMap(({ labels, startedAt }) =>
        startedAt > 0 ? [{ labels, value: startedAt / 1000 }] : [],
      ),
    },
    of('swap_limit_bytes', '[ALPHA] Swap that the container may use, in bytes', swapLimit),
    of('swap_usage_bytes', '[ALPHA] Swap that the container uses, in bytes', swapUsage),
  ]
}

function nodeMetrics({ node, time }: StatsSnapshot): readonly StatsFamily[] {
  const subjects: readonly Subject[] = [{ labels: '', cgroup: node.root, startedAt: 0 }]
  const cpu = '[STABLE] Cpu time that the node used, in core seconds'
  return [
    toFamily({ name: 'node_cpu_usage_seconds_total', help: cpu, type: 'counter' }, subjects, cpuSeconds),
    toFamily(
      { name: 'node_memory_working_set_bytes', help: '[STABLE] Working set of the node in bytes', type: 'gauge' },
      subjects,
      workingSet,
    ),
    {
      name: 'node_swap_usage_bytes',
      help: '[ALPHA] Swap that the node uses, in bytes',
      type: 'gauge',
      samples: [{ labels: '', value: node.swap.usageBytes, time }],
    },
  ]
}

function podMetrics({ pods }: StatsSnapshot): readonly StatsFamily[] {
  const subjects = pods.flatMap(({ name: pod, namespace, cgroup }): Subject[] =>
    cgroup === undefined ? [] : [{ labels: formatLabels({ pod, namespace }), cgroup, startedAt: 0 }],
  )
  const of = (name: string, help: string, measure: Measure, type: StatsFamily['type'] = 'gauge') =>
    toFamily({ name: `pod_${name}`, help, type }, subjects, measure)
  return [
    of('cpu_usage_seconds_total', '[STABLE] Cpu time that the pod used, in core seconds', cpuSeconds, 'counter'),
    of('memory_working_set_bytes', '[STABLE] Working set of the pod in bytes', workingSet),
    of('swap_usage_bytes', '[ALPHA] Swap that the pod uses, in bytes', swapUsage),
  ]
}

function toFamily(head: Omit<StatsFamily, 'samples'>, subjects: readonly Subject[], measure: Measure): StatsFamily {
  const samples = subjects.flatMap(({ labels, cgroup }): MetricSample[] => {
    const value = measure(cgroup)
    return value === undefined ? [] : [{ labels, value, time: cgroup.time }]
  })
  return { ...head, samples }
}
