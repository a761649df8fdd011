import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
  MetricTarget,
} from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { parseQuantity, quantityMilliValue } from '../../../model/resources/quantity.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeMetricReplicas } from './compute-metric-replicas.ts'
import type { Tolerance } from './compute-metric-replicas.ts'
import type { PodSample } from './compute-pod-groups.ts'

/** What each container of a pod used, by name. */
export interface UsageReading {
  readonly time: number
  readonly windowMs: number
  /** In thousandths, by resource. */
  readonly containers: ReadonlyMap<string, ReadonlyMap<string, bigint>>
}

/** A metric that gave no number. */
interface MetricFailure {
  readonly reason: string
  /** For the event and the condition about this metric. */
  readonly message: string
}

export interface Proposal {
  /** Undefined when the metrics say nothing that may be acted on. */
  readonly replicas: number | undefined
  /** What the number was computed from. */
  readonly metric: string
  /** One for each metric of the spec; those that failed have no type. */
  readonly statuses: readonly MetricStatus[]
  readonly failures: readonly MetricFailure[]
  /** All failures in one sentence; undefined when there are none. */
  readonly error: string | undefined
}

export interface ProposalInput {
  readonly autoscaler: Live<HorizontalPodAutoscaler>
  readonly current: number
  /** Those that the target selects. */
  readonly pods: readonly Live<Pod>[]
  /** What they use, by name; an error when it could not be read. */
  readonly usage: ReadonlyMap<string, UsageReading> | Error
  readonly now: number
}

interface Answer {
  readonly replicas: number
  readonly metric: string
  readonly status: MetricStatus
}

type Failure = MetricFailure & { readonly what: string }

const DEFAULT_TOLERANCE = 0.1

/** The largest number that one of the metrics asks for. Where some of them fail, the others may make it grow but not shrink. */
export function computeProposal(input: ProposalInput): Proposal {
  const { metrics = [] } = input.autoscaler.spec
  const results = metrics.map((metric) => answerOf(metric, input))
  const answers = results.filter((result) => 'replicas' in result)
  const failures = results.filter((result) => 'reason' in result)
  const [first] = failures
  const error =
    first &&
    `invalid metrics (${failures.length} invalid out of ${metrics.length}), first error is: failed to get ${first.what}: ${first.message}`
  let best: Answer | undefined
  for (const answer of answers) if (best === undefined || answer.replicas > best.replicas) best = answer
  const isUsable = best !== undefined && (failures.length === 0 || best.replicas >= input.current)
  return {
    replicas: isUsable ? best?.replicas : undefined,
    metric: best?.metric ?? '',
    statuses: results.map((result) => ('status' in result ? result.status : { type: '' })),
    failures,
    error,
  }
}

function answerOf(metric: MetricSpec, input: ProposalInput): Answer | Failure {
  const { resource, containerResource, pods, object, external } = metric
  if (metric.type === 'Resource' && resource !== undefined) {
    const result = measure(resource.name, undefined, resource.target, input)
    if (result instanceof Error)
      return failed('FailedGetResourceMetric', `${resource.name} resource metric value`, result.message)
    const { replicas, value, measured } = result
    const status = { type: metric.type, resource: { name: resource.name, current: value } }
    return { replicas, status, metric: `${resource.name} resource${measured}` }
  }
  if (metric.type === 'ContainerResource' && containerResource !== undefined) {
    const { name, container, target } = containerResource
    const result = measure(name, container, target, input)
    if (result instanceof Error)
      return failed('FailedGetContainerResourceMetric', `${container} container metric value`, result.message)
    const { replicas, value, measured } = result
    const status = { type: metric.type, containerResource: { name, container, current: value } }
    return { replicas, status, metric: `${name} ${measured === '' ? '' : 'container '}resource${measured}` }
  }
  if (metric.type === 'Pods') return failed('FailedGetPodsMetric', 'pods metric value', customError(pods?.metric.name))
  if (metric.type === 'Object')
    return failed('FailedGetObjectMetric', 'object metric value', customError(object?.metric.name))
  if (metric.type === 'External') {
    const { name = '' } = external?.metric ?? {}
    const why = 'unable to fetch metrics from external metrics API: no external metrics API (external.metrics.k8s.io)'
    const message = `unable to get external metric ${input.autoscaler.metadata.namespace}/${name}: ${why} registered`
    return failed('FailedGetExternalMetric', `${name} external metric value`, message)
  }
  return failed('InvalidMetricSourceType', 'a metric', `unknown metric source type "${metric.type}"`)
}

function failed(reason: string, what: string, message: string): Failure {
  return { reason, what, message }
}

function customError(name = ''): string {
  const why =
    'unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered'
  return `unable to get metric ${name}: ${why}`
}

function measure(resource: string, container: string | undefined, target: MetricTarget, input: ProposalInput) {
  const { autoscaler, pods, current, usage, now } = input
  const { averageValue, averageUtilization = 0 } = target
  const what = `failed to get ${resource} ${averageValue === undefined ? 'utilization' : 'usage'}`
  const unread = `${what}: unable to get metrics for resource ${resource}`
  if (usage instanceof Error)
    return new Error(`${unread}: unable to fetch metrics from resource metrics API: ${usage.message}`)
  const used = pods.filter(({ metadata }) => usage.has(metadata.name))
  if (used.length === 0) return new Error(`${unread}: no metrics returned from resource metrics API`)
  const result = computeMetricReplicas({
    resource,
    container,
    target:
      averageValue === undefined
        ? { utilization: averageUtilization }
        : { averageValue: quantityMilliValue(parseQuantity(averageValue)) },
    pods,
    samples: samplesOf(usage, resource, container),
    current,
    tolerance: toleranceOf(autoscaler),
    now,
  })
  if (result instanceof Error) return new Error(`${what}: ${result.message}`)
  return { ...result, measured: averageValue === undefined ? ' utilization (percentage of request)' : '' }
}

/** Of pods whose containers were all measured, or of the one container that counts. */
function samplesOf(
  usage: ReadonlyMap<string, UsageReading>,
  resource: string,
  container: string | undefined,
): ReadonlyMap<string, PodSample> {
  const samples = new Map<string, PodSample>()
  for (const [name, { time, windowMs, containers }] of usage) {
    const counted = container === undefined ? [...containers.values()] : [containers.get(container)]
    const amounts = counted.flatMap((each) => each?.get(resource) ?? [])
    if (amounts.length === 0 || amounts.length < counted.length) continue
    samples.set(name, { value: amounts.reduce((total, amount) => total + amount, 0n), time, windowMs })
  }
  return samples
}

function toleranceOf({ spec }: Live<HorizontalPodAutoscaler>): Tolerance {
  const read = (text: string | undefined) =>
    text === undefined ? DEFAULT_TOLERANCE : Number(parseQuantity(text).nanos) / 1e9
  return { up: read(spec.behavior?.scaleUp?.tolerance), down: read(spec.behavior?.scaleDown?.tolerance) }
}
