import { forbidden } from '../api-error.ts'
import type {
  Container,
  LimitRange,
  LimitRangeItem,
  PersistentVolumeClaim,
  PodSpec,
} from '../../model/generated/core-v1.ts'
import { computePodLimits, computePodRequests } from '../../model/resources/compute-pod-requests.ts'
import { formatQuantity, tryParseQuantity } from '../../model/resources/quantity.ts'
import type { Quantity } from '../../model/resources/quantity.ts'
import type { ObjectOf } from '../store/api-object.ts'

type Amounts = Readonly<Record<string, string>>

export const LIMIT_RANGE_ANNOTATION = 'kubernetes.io/limit-ranger'

/** The spec of a pod with the requests and limits that the ranges of its namespace give, and what was given, as its annotation says it. */
export function fillFromLimitRanges(
  spec: PodSpec,
  ranges: readonly ObjectOf<LimitRange>[],
): { readonly spec: PodSpec; readonly annotation: string | undefined } {
  const said: string[] = []
  const filled = ranges.reduce((each, range) => fillSpec(each, itemOf(range, 'Container'), said), spec)
  return { spec: filled, annotation: said.length === 0 ? undefined : `LimitRanger plugin set: ${said.join('; ')}` }
}

function fillSpec(spec: PodSpec, item: LimitRangeItem | undefined, said: string[]): PodSpec {
  if (item === undefined) return spec
  return {
    ...spec,
    containers: spec.containers.map((container) => fillContainer(container, 'container', item, said)),
    ...(spec.initContainers && {
      initContainers: spec.initContainers.map((container) => fillContainer(container, 'init container', item, said)),
    }),
  }
}

function fillContainer(container: Container, kind: string, item: LimitRangeItem, said: string[]): Container {
  const { requests = {}, limits = {} } = container.resources ?? {}
  const absentOf = (given: Amounts | undefined, present: Amounts) =>
    Object.entries(given ?? {}).filter(([name]) => present[name] === undefined)
  const addedLimits = absentOf(item.default, limits)
  const addedRequests = absentOf(item.defaultRequest, requests)
  const say = (added: readonly (readonly [string, string])[], what: string) => {
    if (added.length > 0)
      said.push(
        `${added
          .map(([name]) => name)
          .toSorted()
          .join(', ')} ${what} for ${kind} ${container.name}`,
      )
  }
  say(addedRequests, 'request')
  say(addedLimits, 'limit')
  if (addedLimits.length + addedRequests.length === 0) return container
  const allRequests = { ...requests, ...Object.fromEntries(addedRequests) }
  const allLimits = { ...limits, ...Object.fromEntries(addedLimits) }
  return {
    ...container,
    resources: {
      ...container.resources,
      ...(Object.keys(allLimits).length > 0 && { limits: allLimits }),
      ...(Object.keys(allRequests).length > 0 && { requests: allRequests }),
    },
  }
}

function itemOf({ spec }: LimitRange, type: string): LimitRangeItem | undefined {
  return spec?.limits.find((item) => item.type === type)
}

/** The amounts of a pod that are outside of a range. */
export function findPodFaults(spec: PodSpec, range: ObjectOf<LimitRange>): readonly string[] {
  return (range.spec?.limits ?? []).flatMap((item) => {
    if (item.type === 'Container') {
      return [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ resources = {} }) =>
        findFaults(item, toQuantities(resources.requests), toQuantities(resources.limits)),
      )
    }
    if (item.type !== 'Pod') return []
    const pod = { spec }
    return findFaults(item, computePodRequests(pod, { overhead: false }), computePodLimits(pod, { overhead: false }))
  })
}

/** Throws an ApiError if there is a fault. */
export function refuseByLimitRanges(
  { resource, name }: { readonly resource: string; readonly name: string },
  faults: readonly string[],
): void {
  const [first, ...others] = faults
  if (first === undefined) return
  throw forbidden({ group: '', resource, name }, others.length === 0 ? first : `[${faults.join(', ')}]`)
}

/** The amounts of a claim that are outside of a range. */
export function findClaimFaults({ spec }: PersistentVolumeClaim, range: ObjectOf<LimitRange>): readonly string[] {
  const item = itemOf(range, 'PersistentVolumeClaim')
  if (item === undefined) return []
  const requests = toQuantities(spec?.resources?.requests)
  const amount = requests.get('storage')
  const text = (quantity: Quantity) => formatQuantity(quantity)
  const [min, max] = [toQuantities(item.min).get('storage'), toQuantities(item.max).get('storage')]
  const faults: string[] = []
  const subject = 'storage usage per PersistentVolumeClaim is'
  if (min !== undefined && (amount?.nanos ?? 0n) < min.nanos) {
    faults.push(
      amount === undefined
        ? `minimum ${subject} ${text(min)}.  No request is specified`
        : `minimum ${subject} ${text(min)}, but request is ${text(amount)}`,
    )
  }
  if (max !== undefined && amount !== undefined && amount.nanos > max.nanos) {
    faults.push(`maximum ${subject} ${text(max)}, but request is ${text(amount)}`)
  }
  return faults
}

type Quantities = ReadonlyMap<string, Quantity>

function toQuantities(amounts: Amounts | undefined): Quantities {
  const entries = Object.entries(amounts ?? {}).map(([name, text]) => [name, tryParseQuantity(text)] as const)
  return new Map(entries.flatMap(([name, quantity]) => (quantity === undefined ? [] : [[name, quantity] as const])))
}

function findFaults(item: LimitRangeItem, requests: Quantities, limits: Quantities): readonly string[] {
  return [
    ...[...toQuantities(item.min)].flatMap(([name, min]) =>
      findMinFault(item.type, name, min, requests.get(name), limits.get(name)),
    ),
    ...[...toQuantities(item.max)].flatMap(([name, max]) =>
      findMaxFault(item.type, name, max, requests.get(name), limits.get(name)),
    ),
    ...[...toQuantities(item.maxLimitRequestRatio)].flatMap(([name, ratio]) =>
      findRatioFault(item.type, name, ratio, requests.get(name), limits.get(name)),
    ),
  ]
}

function findMinFault(
  type: string,
  name: string,
  min: Quantity,
  request: Quantity | undefined,
  limit: Quantity | undefined,
): readonly string[] {
  const begin = `minimum ${name} usage per ${type} is ${formatQuantity(min)}`
  if (request === undefined) return [`${begin}.  No request is specified`]
  if (request.nanos < min.nanos) return [`${begin}, but request is ${formatQuantity(request)}`]
  return limit !== undefined && limit.nanos < min.nanos ? [`${begin}, but limit is ${formatQuantity(limit)}`] : []
}

function findMaxFault(
  type: string,
  name: string,
  max: Quantity,
  request: Quantity | undefined,
  limit: Quantity | undefined,
): readonly string[] {
  const begin = `maximum ${name} usage per ${type} is ${formatQuantity(max)}`
  if (limit === undefined) return [`${begin}.  No limit is specified`]
  if (limit.nanos > max.nanos) return [`${begin}, but limit is ${formatQuantity(limit)}`]
  return request !== undefined && request.nanos > max.nanos
    ? [`${begin}, but request is ${formatQuantity(request)}`]
    : []
}

function findRatioFault(
  type: string,
  name: string,
  ratio: Quantity,
  request: Quantity | undefined,
  limit: Quantity | undefined,
): readonly string[] {
  const begin = `${name} max limit to request ratio per ${type} is ${formatQuantity(ratio)}`
  if (request === undefined || request.nanos === 0n) return [`${begin}, but no request is specified or request is 0`]
  if (limit === undefined || limit.nanos === 0n) return [`${begin}, but no limit is specified or limit is 0`]
  const is = Number(limit.nanos) / Number(request.nanos)
  return is > Number(ratio.nanos) / 1e9 ? [`${begin}, but provided ratio is ${is.toFixed(6)}`] : []
}
