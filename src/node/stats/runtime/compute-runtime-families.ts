import type { CriResponse } from '../../../protocols/cri/cri-methods.ts'
import { formatLabels } from '../reports/stats-family.ts'
import type { StatsFamily, MetricSample } from '../reports/stats-family.ts'

type Descriptor = CriResponse<'listMetricDescriptors'>['descriptors'][number]
type PodMetrics = CriResponse<'listPodSandboxMetrics'>['podMetrics'][number]

const GAUGE = 1
const NANOS_PER_MS = 1_000_000n

/** What the runtime measures of pods, for scrapers. A metric that it did not describe is left out, as is one with another number of labels. */
export function computeRuntimeFamilies(
  descriptors: readonly Descriptor[],
  pods: readonly PodMetrics[],
): readonly StatsFamily[] {
  const metrics = Map.groupBy(
    pods.flatMap((pod) => [...pod.metrics, ...pod.containerMetrics.flatMap((container) => container.metrics)]),
    ({ name }) => name,
  )
  return descriptors.flatMap(({ name, help, labelKeys }) => {
    const own = (metrics.get(name) ?? []).filter(({ labelValues }) => labelValues.length === labelKeys.length)
    const [first] = own
    if (first === undefined) return []
    const samples = own.map(({ labelValues, value, timestamp }): MetricSample => ({
      labels: formatLabels(Object.fromEntries(labelKeys.map((key, index) => [key, labelValues[index] ?? '']))),
      value: Number(value?.value ?? 0n),
      // Without one it was measured for this answer.
      ...(timestamp === 0n ? {} : { time: Number(timestamp / NANOS_PER_MS) }),
    }))
    return [{ name, help, type: first.metricType === GAUGE ? ('gauge' as const) : ('counter' as const), samples }]
  })
}
