import type { PodSpec, ResourceClaim, ResourceRequirements } from '../../generated/core-v1.ts'
import { formatQuantity, tryParseQuantity } from '../../resources/quantity.ts'
import { aggregateResources } from '../aggregate-resources.ts'
import type { FieldPath } from '../field-path.ts'
import { isHugePages, isNativeResource, isPodLevelResource, mayOvercommit } from '../resource-name.ts'
import { dnsLabel, qualifiedName } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'

const NANOS = 1_000_000_000n
type Amounts = Readonly<Record<string, string>>

/** Requests, limits and claims of one container. */
export function validateContainerResources(
  resources: ResourceRequirements,
  claims: ReadonlySet<string>,
  path: FieldPath,
  problems: ProblemList,
): void {
  validateAmounts(resources, path, problems, validateContainerResourceName)
  validateClaims(resources.claims ?? [], claims, path.child('claims'), problems)
}

/** Requests and limits of a pod as a whole; its containers must fit in. */
export function validatePodResources(spec: PodSpec, specPath: FieldPath, problems: ProblemList): void {
  const { resources } = spec
  if (resources === undefined) return
  const path = specPath.child('resources')
  if (resources.claims !== undefined) problems.forbidden(path.child('claims'), 'may not be set at pod level')
  validateAmounts(resources, path, problems, (name, at) => {
    if (isPodLevelResource(name)) problems.matches(at, name, qualifiedName)
    else problems.unsupported(at, name, ['cpu', 'hugepages-<size>', 'memory'])
  })
  for (const [name, needed] of aggregateResources(spec, 'requests')) {
    const given = resources.requests?.[name]
    if (given === undefined || nanosOf(given) >= needed.nanos) continue
    const rule = `is less than its containers request together, ${formatQuantity(needed)}`
    problems.invalid(path.child('requests').key(name), given, rule)
  }
  for (const [index, container] of spec.containers.entries()) {
    for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) {
      const podLimit = resources.limits?.[name]
      if (podLimit === undefined || nanosOf(limit) <= nanosOf(podLimit)) continue
      const at = specPath.child('containers').index(index).child('resources').child('limits').key(name)
      problems.invalid(at, limit, `is more than the limit of the pod, ${podLimit}`)
    }
  }
}

/** What the runtime needs for a pod besides its containers. */
export function validateOverhead(overhead: Amounts, path: FieldPath, problems: ProblemList): void {
  for (const [name, amount] of Object.entries(overhead)) {
    validateContainerResourceName(name, path.key(name), problems)
    validateAmount(name, amount, path.key(name), problems)
  }
}

type NameCheck = (name: string, path: FieldPath, problems: ProblemList) => void

function validateAmounts(
  resources: ResourceRequirements,
  path: FieldPath,
  problems: ProblemList,
  check: NameCheck,
): void {
  const { limits = {}, requests = {} } = resources
  for (const [which, amounts] of Object.entries({ limits, requests })) {
    for (const [name, amount] of Object.entries(amounts)) {
      check(name, path.child(which).key(name), problems)
      validateAmount(name, amount, path.child(which).key(name), problems)
    }
  }
  for (const [name, request] of Object.entries(requests)) {
    validateRequest(name, request, limits[name], path, problems)
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    problems.forbidden(path, 'huge pages need cpu or memory beside them')
  }
}

function validateRequest(
  name: string,
  request: string,
  limit: string | undefined,
  path: FieldPath,
  problems: ProblemList,
): void {
  const at = path.child('requests').key(name)
  if (limit === undefined) {
    if (!mayOvercommit(name)) problems.required(path.child('limits'), 'a resource that cannot be shared needs one')
  } else if (!mayOvercommit(name) && nanosOf(request) !== nanosOf(limit)) {
    problems.invalid(at, request, `must be equal to ${name} limit of ${limit}`)
  } else if (nanosOf(request) > nanosOf(limit)) {
    problems.invalid(at, request, `must be less than or equal to ${name} limit of ${limit}`)
  }
}

function validateAmount(name: string, amount: string, path: FieldPath, problems: ProblemList): void {
  const nanos = nanosOf(amount)
  if (nanos < 0n) problems.invalid(path, amount, 'must be greater than or equal to 0')
  else if (!isNativeResource(name) && nanos % NANOS !== 0n) problems.invalid(path, amount, 'must be a whole number')
  if (!isHugePages(name)) return
  const page = nanosOf(name.slice('hugepages-'.length))
  if (page <= 0n || nanos % page !== 0n)
    problems.invalid(path, amount, `must be a multiple of the page size of ${name}`)
}

/** The name of something that a container can ask for. */
export function validateContainerResourceName(name: string, path: FieldPath, problems: ProblemList): void {
  if (qualifiedName(name) !== undefined) return problems.matches(path, name, qualifiedName)
  const isStandard = ['cpu', 'memory', 'ephemeral-storage'].includes(name) || isHugePages(name)
  if (!name.includes('/') && !isStandard) {
    problems.invalid(path, name, 'must be a standard resource for containers or fully qualified')
  } else if (
    !isNativeResource(name) &&
    (name.startsWith('requests.') || qualifiedName(`requests.${name}`) !== undefined)
  ) {
    problems.invalid(path, name, 'must be a legal name of an extended resource')
  }
}

function validateClaims(
  claims: readonly ResourceClaim[],
  podClaims: ReadonlySet<string>,
  path: FieldPath,
  problems: ProblemList,
): void {
  const seen = new Set<string>()
  for (const [index, { name, request }] of claims.entries()) {
    const at = path.index(index)
    if (!name) {
      problems.required(at)
      continue
    }
    if (request) problems.matches(at.child('request'), request, dnsLabel)
    const key = request ? `${name}/${request}` : name
    // The whole claim and a part of it exclude each other.
    const isDouble =
      seen.has(key) || seen.has(name) || (!request && [...seen].some((each) => each.startsWith(`${name}/`)))
    if (isDouble) problems.duplicate(at, key)
    seen.add(key)
    if (!podClaims.has(name)) problems.notFound(at, name)
  }
}

function nanosOf(amount: string): bigint {
  return tryParseQuantity(amount)?.nanos ?? 0n
}
