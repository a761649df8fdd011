import type {
  DeviceClaim,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
  ResourceClaimSpec,
} from '../../../model/generated/api-groups.ts'
import type { FieldPath } from '../../../model/schema/field-path.ts'
import { dnsLabel, dnsSubdomain } from '../../../model/schema/validation/name-rules.ts'
import type { ProblemList } from '../../../model/schema/validation/problem-list.ts'

const MOST_REQUESTS = 32
const MOST_ALTERNATIVES = 8
const MOST_EXPRESSION_BYTES = 10 * 1024
const MODES = ['All', 'ExactCount']
const NO_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

/** What a claim asks for: requests, and constraints on all of them. Expressions are read by what allocates the devices. */
export function validateClaimSpec({ devices = {} }: ResourceClaimSpec, path: FieldPath, problems: ProblemList): void {
  const { requests = [], constraints = [], config = [] } = devices
  const at = path.child('devices')
  validateItems(requests, at.child('requests'), MOST_REQUESTS, problems, ({ name }) => name, validateRequest)
  const names = namesOf(devices)
  validateItems(constraints, at.child('constraints'), MOST_REQUESTS, problems, undefined, (constraint, own) => {
    validateReferences(constraint.requests ?? [], own.child('requests'), names, problems)
    const { matchAttribute, distinctAttribute } = constraint
    if (matchAttribute === undefined && distinctAttribute === undefined) problems.required(own.child('matchAttribute'))
  })
  validateItems(config, at.child('config'), MOST_REQUESTS, problems, undefined, ({ requests: about, opaque }, own) => {
    validateReferences(about ?? [], own.child('requests'), names, problems)
    if (opaque === undefined) return problems.required(own.child('opaque'))
    problems.name(own.child('opaque').child('driver'), opaque.driver, dnsSubdomain)
  })
}

/** Validates each item, and with `keyOf` that no two items have the same key. */
function validateItems<T>(
  items: readonly T[],
  path: FieldPath,
  most: number,
  problems: ProblemList,
  keyOf: ((item: T) => string) | undefined,
  validate: (item: T, path: FieldPath, problems: ProblemList) => void,
): void {
  if (items.length > most) problems.tooMany(path, items.length, most)
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    validate(item, path.index(index), problems)
    const key = keyOf?.(item)
    if (key === undefined) continue
    if (seen.has(key)) problems.duplicate(path.index(index), key)
    seen.add(key)
  }
}

function validateRequest(request: DeviceRequest, path: FieldPath, problems: ProblemList): void {
  const { name, exactly, firstAvailable = [] } = request
  problems.matches(path.child('name'), name, dnsLabel)
  const why = 'exactly one of `exactly` or `firstAvailable` is required'
  if (exactly === undefined && firstAvailable.length === 0) return problems.required(path, why)
  if (exactly !== undefined && firstAvailable.length > 0)
    return problems.invalid(path, undefined, `${why}, but multiple fields are set`)
  if (exactly !== undefined) return validateAsked(exactly, path.child('exactly'), problems)
  const at = path.child('firstAvailable')
  validateItems(
    firstAvailable,
    at,
    MOST_ALTERNATIVES,
    problems,
    (each) => each.name,
    (each, own) => {
      problems.matches(own.child('name'), each.name, dnsLabel)
      validateAsked(each, own, problems)
    },
  )
}

function validateAsked(asked: ExactDeviceRequest | DeviceSubRequest, path: FieldPath, problems: ProblemList): void {
  const { deviceClassName, allocationMode = '', count = 0, selectors = [] } = asked
  problems.name(path.child('deviceClassName'), deviceClassName, dnsSubdomain)
  if (!MODES.includes(allocationMode)) problems.unsupported(path.child('allocationMode'), allocationMode, MODES)
  else if (allocationMode === 'All' && count !== 0)
    problems.invalid(path.child('count'), count, "must not be specified when allocationMode is 'All'")
  else if (allocationMode === 'ExactCount' && count <= 0)
    problems.invalid(path.child('count'), count, 'must be greater than zero')
  validateItems(selectors, path.child('selectors'), MOST_REQUESTS, problems, undefined, ({ cel }, own) => {
    if (cel === undefined) return problems.required(own.child('cel'))
    const at = own.child('cel').child('expression')
    if (!cel.expression) problems.required(at)
    else if (Buffer.byteLength(cel.expression) > MOST_EXPRESSION_BYTES) problems.tooLong(at, MOST_EXPRESSION_BYTES)
  })
}

/** Requests, and their alternatives after a slash. */
function namesOf({ requests = [] }: DeviceClaim): ReadonlySet<string> {
  return new Set(
    requests.flatMap(({ name, firstAvailable = [] }) => [
      name,
      ...firstAvailable.map((each) => `${name}/${each.name}`),
    ]),
  )
}

function validateReferences(
  references: readonly string[],
  path: FieldPath,
  names: ReadonlySet<string>,
  problems: ProblemList,
): void {
  validateItems(
    references,
    path,
    MOST_REQUESTS,
    problems,
    (name) => name,
    (name, own) => {
      if (!names.has(name)) problems.invalid(own, name, NO_REQUEST)
    },
  )
}
