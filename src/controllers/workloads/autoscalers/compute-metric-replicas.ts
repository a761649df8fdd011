import type { MetricValueStatus } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { formatQuantity } from '../../../model/resources/quantity.ts'
import type { Live } from '../../engine/live-object.ts'
import { computePodGroups } from './compute-pod-groups.ts'
import type { PodSample } from './compute-pod-groups.ts'
import { computeRequests } from './compute-requests.ts'

/** How far usage may be from its target before anything is done, as a part of the target. */
export interface Tolerance {
  readonly up: number
  readonly down: number
}

/** In percent of what the pods ask for, or in thousandths of the resource's unit for each pod. */
type UsageTarget = { readonly utilization: number } | { readonly averageValue: bigint }

export interface MetricInput {
  readonly resource: string
  /** The one that counts; all of a pod when undefined. */
  readonly container: string | undefined
  readonly target: UsageTarget
  /** Those that the target of the autoscaler selects. */
  readonly pods: readonly Live<Pod>[]
  /** What was measured of them, by name. */
  readonly samples: ReadonlyMap<string, PodSample>
  readonly current: number
  readonly tolerance: Tolerance
  readonly now: number
}

export interface MetricResult {
  readonly replicas: number
  readonly value: MetricValueStatus
}

interface Measure {
  readonly ratio: number
  readonly value: MetricValueStatus
}

/** How usage is held against the target, and what a pod counts for that was not measured while others use too little. */
interface Scale {
  readonly measure: (values: ReadonlyMap<string, bigint>) => Measure | Error
  readonly assumed: (pod: string) => bigint
}

const LARGEST = 2 ** 31 - 1

/** How many replicas would bring the usage of a resource to its target. */
export function computeMetricReplicas(input: MetricInput): MetricResult | Error {
  const { pods, samples, resource, current, tolerance, now } = input
  if (pods.length === 0) return new Error('no pods returned by selector while calculating replica count')
  const { ready, unready, missing } = computePodGroups(pods, samples, resource, now)
  const values = new Map(ready.map((name) => [name, samples.get(name)?.value ?? 0n]))
  if (values.size === 0) return new Error('did not receive metrics for targeted pods (pods might be unready)')
  const scale = scaleOf(input)
  if (scale instanceof Error) return scale
  const first = scale.measure(values)
  if (first instanceof Error) return first
  const { ratio, value } = first
  const stay = { replicas: current, value }
  const growsBesideUnready = unready.length > 0 && ratio > 1
  if (!growsBesideUnready && missing.length === 0)
    return isWithin(tolerance, ratio) ? stay : { replicas: ceiling(ratio * ready.length), value }
  if (ratio !== 1) for (const name of missing) values.set(name, ratio < 1 ? scale.assumed(name) : 0n)
  if (growsBesideUnready) for (const name of unready) values.set(name, 0n)
  const second = scale.measure(values)
  if (second instanceof Error) return second
  const isTurned = (ratio < 1 && second.ratio > 1) || (ratio > 1 && second.ratio < 1)
  if (isWithin(tolerance, second.ratio) || isTurned) return stay
  const replicas = ceiling(second.ratio * values.size)
  const isAgainst = (second.ratio < 1 && replicas > current) || (second.ratio > 1 && replicas < current)
  return isAgainst ? stay : { replicas, value }
}

function scaleOf({ target, pods, resource, container }: MetricInput): Scale | Error {
  if ('averageValue' in target) {
    const { averageValue } = target
    return {
      measure: (values) => {
        const average = sum(values.values()) / BigInt(values.size)
        return { ratio: Number(average) / Number(averageValue), value: { averageValue: amountOf(resource, average) } }
      },
      assumed: () => averageValue,
    }
  }
  const requests = computeRequests(pods, resource, container)
  if (requests instanceof Error) return requests
  const { utilization } = target
  return {
    measure: (values) => {
      const used = sum(values.values())
      const requested = sum([...values.keys()].map((name) => requests.get(name) ?? 0n))
      if (requested === 0n) return new Error('no metrics returned matched known pods')
      const averageUtilization = Math.min(LARGEST, Number((used * 100n) / requested))
      const averageValue = amountOf(resource, used / BigInt(values.size))
      return { ratio: averageUtilization / utilization, value: { averageUtilization, averageValue } }
    },
    assumed: (name) => ((requests.get(name) ?? 0n) * BigInt(Math.max(100, utilization))) / 100n,
  }
}

/** Thousandths as the API writes them: bytes in powers of two where they are whole. */
function amountOf(resource: string, milli: bigint): string {
  const isBinary = resource === 'memory' && milli % 1000n === 0n
  return formatQuantity({ nanos: milli * 1_000_000n, format: isBinary ? 'BinarySI' : 'DecimalSI' })
}

function isWithin({ up, down }: Tolerance, ratio: number): boolean {
  return 1 - down <= ratio && ratio <= 1 + up
}

function ceiling(replicas: number): number {
  return Math.min(LARGEST, Math.ceil(replicas))
}

function sum(values: Iterable<bigint>): bigint {
  let total = 0n
  for (const value of values) total += value
  return total
}
