import { isIPv4, isIPv6 } from 'node:net'
import type { Endpoint, EndpointSlice } from '../../../../model/generated/api-groups.ts'
import { sameValue } from '../../../../base/document/same-value.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { validateReachableAddress } from './validate-reachable-address.ts'

type StoredSlice = ObjectOf<EndpointSlice>

const MOST_ENDPOINTS = 1000
const MOST_ADDRESSES = 100
const MOST_PORTS = 20_000
const MOST_HINTS = 8

/** A part of those who listen behind a service. */
export const endpointSliceRules: ResourceRules<StoredSlice> = {
  fillDefaults: (slice) => ({
    ...slice,
    endpoints: slice.endpoints ?? [],
    ...(slice.ports && {
      ports: slice.ports.map((port) => ({ ...port, name: port.name ?? '', protocol: port.protocol || 'TCP' })),
    }),
  }),
  prepareUpdate: (slice, before) => {
    const { metadata: _after, ...after } = slice
    const { metadata: _before, ...old } = before
    const isSame = sameValue(after, old) && sameValue(slice.metadata.labels ?? {}, before.metadata.labels ?? {})
    const generation = Number(before.metadata.generation ?? 0) + 1
    return isSame ? slice : { ...slice, metadata: { ...slice.metadata, generation } }
  },
  validate: validateSlice,
  validateUpdate: (slice, before) => {
    const problems = new ProblemList()
    if (slice.addressType !== before.addressType)
      problems.invalid(FieldPath.root.child('addressType'), slice.addressType, 'field is immutable')
    return problems.violations
  },
}

function validateSlice({ addressType, endpoints = [], ports = [] }: StoredSlice) {
  const problems = new ProblemList()
  problems.oneOf(FieldPath.root.child('addressType'), addressType, ['FQDN', 'IPv4', 'IPv6'])
  const path = FieldPath.root.child('endpoints')
  if (endpoints.length > MOST_ENDPOINTS) problems.tooMany(path, endpoints.length, MOST_ENDPOINTS)
  else for (const [index, each] of endpoints.entries()) validateEndpoint(path.index(index), each, addressType, problems)
  const portsPath = FieldPath.root.child('ports')
  if (ports.length > MOST_PORTS) problems.tooMany(portsPath, ports.length, MOST_PORTS)
  const names = new Set<string>()
  for (const [index, { name = '', protocol, port, appProtocol }] of ports.entries()) {
    const place = portsPath.index(index)
    if (name !== '') problems.matches(place.child('name'), name, dnsLabel)
    if (names.has(name)) problems.duplicate(place.child('name'), name)
    names.add(name)
    problems.oneOf(place.child('protocol'), protocol, ['SCTP', 'TCP', 'UDP'])
    problems.inRange(place.child('port'), port, 0, 65_535)
    if (appProtocol) problems.matches(place.child('appProtocol'), appProtocol, qualifiedName)
  }
  return problems.violations
}

function validateEndpoint(path: FieldPath, endpoint: Endpoint, addressType: string, problems: ProblemList): void {
  const { addresses, hostname, nodeName, hints } = endpoint
  const list = path.child('addresses')
  if (addresses.length === 0) problems.required(list, 'must contain at least 1 address')
  else if (addresses.length > MOST_ADDRESSES) problems.tooMany(list, addresses.length, MOST_ADDRESSES)
  for (const [index, address] of addresses.entries()) {
    if (addressType === 'FQDN') problems.matches(list.index(index), address, dnsSubdomain)
    else {
      validateReachableAddress(list.index(index), address, problems)
      if (addressType === 'IPv4' && isIPv6(address)) problems.invalid(list, address, 'must be an IPv4 address')
      if (addressType === 'IPv6' && isIPv4(address)) problems.invalid(list, address, 'must be an IPv6 address')
    }
  }
  if (hostname !== undefined) problems.name(path.child('hostname'), hostname, dnsLabel)
  if (nodeName !== undefined) problems.name(path.child('nodeName'), nodeName, dnsSubdomain)
  for (const [name, rule] of [
    ['forZones', labelValue],
    ['forNodes', dnsSubdomain],
  ] as const) {
    const given = hints?.[name] ?? []
    if (given.length > MOST_HINTS) problems.tooMany(path.child('hints').child(name), given.length, MOST_HINTS)
    for (const [index, hint] of given.entries())
      problems.matches(path.child('hints').child(name).index(index).child('name'), hint.name, rule)
  }
}
