import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** One probe of one container. */
export interface ProbeSeries {
  readonly namespace: string
  readonly pod: string
  readonly podUid: string
  readonly container: string
  readonly type: 'startup' | 'readiness' | 'liveness'
}

/** What is counted of probes. */
export interface ProbeMetrics {
  /** One run of a probe. */
  probe(series: ProbeSeries, result: 'successful' | 'failed' | 'unknown', seconds: number): void
  /** The probe has ended: what was counted goes, or every pod that ever was would stay. */
  probeEnded(series: ProbeSeries): void
}

const TYPES = { startup: 'Startup', readiness: 'Readiness', liveness: 'Liveness' }

export function createProbeMetrics(set: MetricSet): ProbeMetrics {
  const labels = ['container', 'namespace', 'pod', 'probe_type'] as const
  const total = set.counter({
    name: 'prober_probe_total',
    help: 'Runs of probes by result.',
    stability: 'BETA',
    labels: [...labels, 'pod_uid', 'result'],
  })
  const durations = set.histogram({
    name: 'prober_probe_duration_seconds',
    help: 'How long a run of a probe takes, with the wait for its turn.',
    labels,
  })
  const toLabels = ({ namespace, pod, container, type }: ProbeSeries) => ({
    namespace,
    pod,
    container,
    probe_type: TYPES[type],
  })
  return {
    probe(series, result, seconds) {
      total.inc({ ...toLabels(series), pod_uid: series.podUid, result })
      // As in the Go kubelet: how long a failure takes is mostly how long one waits for an answer.
      if (result !== 'failed') durations.observe(toLabels(series), seconds)
    },
    probeEnded(series) {
      for (const result of ['successful', 'failed', 'unknown'])
        total.remove({ ...toLabels(series), pod_uid: series.podUid, result })
      durations.remove(toLabels(series))
    },
  }
}
