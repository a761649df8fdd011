import type { ServiceSpec } from '../../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { parseIp } from '../../../../model/text/ip-number.ts'
import { internalError } from '../../../api-error.ts'
import type { RequestContext } from '../../resource.ts'
import { findFreeAddress, isInRange } from './service-range.ts'
import type { ServiceRange } from './service-range.ts'
import { HEADLESS, rejectService, serviceSpecOf } from './service-type.ts'
import type { StoredService } from './service-type.ts'

const SPEC = FieldPath.root.child('spec')
const POLICY = SPEC.child('ipFamilyPolicy')

/** The service with the families and addresses that it asks for, or gets. */
export function withAddresses(
  object: StoredService,
  old: ServiceSpec | undefined,
  others: readonly ServiceSpec[],
  { serviceRanges }: Pick<RequestContext, 'serviceRanges'>,
): StoredService {
  const spec = serviceSpecOf(object)
  // What is wrong with the addresses themselves is the validation's to say.
  if (spec.type === 'ExternalName' || !areAddressesSound(spec)) return object
  const policy = spec.ipFamilyPolicy ?? defaultPolicy(spec)
  const asked = trimmed({ ...spec, ipFamilyPolicy: policy }, old)
  checkPolicy(object, asked, old)
  const isLoose = spec.clusterIP === HEADLESS && isEmpty(spec.selector)
  const ipFamilies = familiesFor(object, asked, serviceRanges, isLoose)
  const clusterIPs =
    spec.clusterIP === HEADLESS ? [HEADLESS] : addressesFor(object, asked, old, { ipFamilies, others, serviceRanges })
  const next = { ...asked, ipFamilyPolicy: policy, ipFamilies, clusterIP: clusterIPs[0], clusterIPs }
  return { ...object, spec: next }
}

function isEmpty(selector: Readonly<Record<string, string>> | undefined): boolean {
  return Object.keys(selector ?? {}).length === 0
}

function areAddressesSound({ clusterIP, clusterIPs = [], ipFamilies = [] }: ServiceSpec): boolean {
  const isMatching = clusterIP ? clusterIPs[0] === clusterIP : clusterIPs.length === 0
  const areAddresses = clusterIPs.every((each) => each === HEADLESS || parseIp(each) !== undefined)
  const areFamilies = ipFamilies.every((each) => each === 'IPv4' || each === 'IPv6')
  return isMatching && areAddresses && areFamilies && clusterIPs.length <= 2
}

function defaultPolicy({ clusterIP, selector }: ServiceSpec): string {
  return clusterIP === HEADLESS && isEmpty(selector) ? 'RequireDualStack' : 'SingleStack'
}

/** Who asks for one family of a service that has two means the first. */
function trimmed(spec: ServiceSpec, old: ServiceSpec | undefined): ServiceSpec {
  if (old === undefined || spec.ipFamilyPolicy !== 'SingleStack') return spec
  const areSame = (name: 'clusterIPs' | 'ipFamilies') => String(spec[name]) === String(old[name])
  return {
    ...spec,
    ...(areSame('clusterIPs') && spec.clusterIPs && { clusterIPs: spec.clusterIPs.slice(0, 1) }),
    ...(areSame('ipFamilies') && spec.ipFamilies && { ipFamilies: spec.ipFamilies.slice(0, 1) }),
  }
}

function checkPolicy(object: StoredService, spec: ServiceSpec, old: ServiceSpec | undefined): void {
  const { ipFamilyPolicy, clusterIPs = [], ipFamilies = [] } = spec
  if (ipFamilyPolicy === 'SingleStack') {
    const why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple"
    if (clusterIPs.length === 2) rejectService(object, POLICY, ipFamilyPolicy, `${why} cluster IPs are specified`)
    if (ipFamilies.length === 2) rejectService(object, POLICY, ipFamilyPolicy, `${why} IP families are specified`)
    return
  }
  const why = "must be 'SingleStack' to release the secondary"
  if (clusterIPs.length === 1 && clusterIPs[0] !== HEADLESS && old?.clusterIPs?.length === 2)
    rejectService(object, POLICY, ipFamilyPolicy, `${why} cluster IP`)
  if (ipFamilies.length === 1 && old?.ipFamilies?.length === 2)
    rejectService(object, POLICY, ipFamilyPolicy, `${why} IP family`)
}

function familiesFor(
  object: StoredService,
  { ipFamilyPolicy, ipFamilies: asked = [], clusterIPs = [] }: ServiceSpec,
  ranges: readonly ServiceRange[],
  isLoose: boolean,
): readonly string[] {
  const isServed = (family: string | undefined) => ranges.some((range) => range.family === family)
  const families = [...asked]
  for (const [index, address] of clusterIPs.entries()) {
    const family = parseIp(address)?.family
    if (family === undefined || index < families.length) continue
    if (!isServed(family))
      rejectService(
        object,
        SPEC.child('clusterIPs').index(index),
        clusterIPs,
        `${family} is not configured on this cluster`,
      )
    families.push(family)
  }
  if (!isLoose) {
    if (ipFamilyPolicy === 'RequireDualStack' && ranges.length < 2)
      rejectService(object, POLICY, ipFamilyPolicy, 'this cluster is not configured for dual-stack services')
    for (const [index, family] of families.entries()) {
      if (!isServed(family))
        rejectService(object, SPEC.child('ipFamilies').index(index), family, 'not configured on this cluster')
    }
  }
  const [first = ranges[0]?.family ?? 'IPv4', ...rest] = families
  const isDual = ipFamilyPolicy !== 'SingleStack' && (isLoose || ranges.length === 2)
  return rest.length === 0 && isDual ? [first, first === 'IPv4' ? 'IPv6' : 'IPv4'] : [first, ...rest]
}

function addressesFor(
  object: StoredService,
  { clusterIPs = [] }: ServiceSpec,
  old: ServiceSpec | undefined,
  {
    ipFamilies,
    others,
    serviceRanges,
  }: {
    readonly ipFamilies: readonly string[]
    readonly others: readonly ServiceSpec[]
    readonly serviceRanges: readonly ServiceRange[]
  },
): readonly string[] {
  const taken = new Set(others.flatMap((other) => other.clusterIPs ?? []))
  return ipFamilies.flatMap((family, index) => {
    const range = serviceRanges.find((each) => each.family === family)
    const asked = clusterIPs[index]
    // Another address than before is refused by the validation, whatever it is.
    const isChanged = old?.type !== 'ExternalName' && old?.clusterIPs?.[index] !== undefined
    if (range === undefined || (isChanged && asked !== undefined)) return asked ?? []
    if (asked === undefined) {
      const free = findFreeAddress(range, taken)
      if (free === undefined) throw internalError(`failed to allocate a serviceIP: range ${range.text} is full`)
      return free
    }
    const why = !isInRange(range, asked)
      ? `the provided IP (${asked}) is not in the valid range. The range of valid IPs is ${range.text}`
      : taken.has(asked)
        ? 'provided IP is already allocated'
        : undefined
    if (why !== undefined)
      rejectService(object, SPEC.child('clusterIPs'), clusterIPs, `failed to allocate IP ${asked}: ${why}`)
    return asked
  })
}
