import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from '../../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { portName, ipAddress } from '../../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import { validateLabelSelector } from '../../../../model/schema/validation/validate-selectors.ts'
import { parseCidr, parseIp } from '../../../../model/text/ip-number.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { warnOfRange } from '../../warnings/warn-address.ts'

type StoredPolicy = ObjectOf<NetworkPolicy>

const SPEC = FieldPath.root.child('spec')
const TYPES = ['Egress', 'Ingress']
// Numbers with zeros before them: some programs read them as octal.
const PADDED = /(?:^|\.)0\d[^:]*\/|\/0\d/

/** Who may talk to some pods, and to whom they may talk; src/controllers/network/network-policies enforces it. */
export const networkPolicyRules: ResourceRules<StoredPolicy> = {
  fillDefaults,
  validate: (policy) => validatePolicy(policy, new Set()),
  judgesChanges: true,
  // A range that was taken once stays, also when it would not be taken today.
  validateUpdate: (policy, before) => validatePolicy(policy, new Set(blocksOf(before).flatMap(rangesOf))),
  warn: ({ spec }) =>
    peersOf(spec).flatMap(({ peer: { ipBlock }, path }) =>
      ipBlock === undefined
        ? []
        : [
            ...warnOfRange(ipBlock.cidr, path.child('ipBlock').child('cidr')),
            ...(ipBlock.except ?? []).flatMap((range, index) =>
              warnOfRange(range, path.child('ipBlock').child('except').index(index)),
            ),
          ],
    ),
}

function fillDefaults(policy: StoredPolicy): StoredPolicy {
  const { podSelector = {}, policyTypes, ingress, egress, ...rest } = policy.spec ?? {}
  const hasTypes = policyTypes !== undefined && policyTypes.length > 0
  const types = hasTypes ? policyTypes : ['Ingress', ...(egress !== undefined && egress.length > 0 ? ['Egress'] : [])]
  const withProtocols = <R extends { readonly ports?: readonly NetworkPolicyPort[] | undefined }>(rule: R): R =>
    rule.ports === undefined
      ? rule
      : { ...rule, ports: rule.ports.map((port) => ({ ...port, protocol: port.protocol ?? 'TCP' })) }
  return {
    ...policy,
    spec: {
      ...rest,
      podSelector,
      ...(ingress && { ingress: ingress.map(withProtocols) }),
      ...(egress && { egress: egress.map(withProtocols) }),
      policyTypes: types,
    },
  }
}

function validatePolicy({ spec = {} }: StoredPolicy, known: ReadonlySet<string>) {
  const problems = new ProblemList()
  validateLabelSelector(spec.podSelector, SPEC.child('podSelector'), problems)
  for (const { port, path } of portsOf(spec)) validatePort(port, path, problems)
  for (const { peer, path } of peersOf(spec)) validatePeer(peer, path, known, problems)
  const { policyTypes = [] } = spec
  const path = SPEC.child('policyTypes')
  if (policyTypes.length > TYPES.length)
    problems.invalid(path, policyTypes, 'may not specify more than two policyTypes')
  else
    for (const [index, type] of policyTypes.entries())
      if (!TYPES.includes(type)) problems.unsupported(path.index(index), type, TYPES)
  return problems.violations
}

function validatePort({ port, endPort, protocol }: NetworkPolicyPort, path: FieldPath, problems: ProblemList): void {
  if (protocol !== undefined && !['SCTP', 'TCP', 'UDP'].includes(protocol))
    problems.unsupported(path.child('protocol'), protocol, ['SCTP', 'TCP', 'UDP'])
  const end = path.child('endPort')
  if (typeof port === 'number') {
    problems.inRange(path.child('port'), port, 1, 65_535)
    if (endPort !== undefined && endPort < port)
      problems.invalid(end, endPort, 'must be greater than or equal to `port`')
    problems.inRange(end, endPort, 1, 65_535)
    return
  }
  if (endPort !== undefined) {
    const why = port === undefined ? '`port` is not specified' : '`port` is non-numeric'
    problems.invalid(end, endPort, `may not be specified when ${why}`)
  }
  if (port !== undefined) problems.matches(path.child('port'), port, portName)
}

function validatePeer(
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  path: FieldPath,
  known: ReadonlySet<string>,
  problems: ProblemList,
): void {
  if (podSelector) validateLabelSelector(podSelector, path.child('podSelector'), problems)
  if (namespaceSelector) validateLabelSelector(namespaceSelector, path.child('namespaceSelector'), problems)
  if (ipBlock) validateBlock(ipBlock, path.child('ipBlock'), known, problems)
  const isSelected = podSelector !== undefined || namespaceSelector !== undefined
  if (!isSelected && ipBlock === undefined) problems.required(path, 'must specify a peer')
  else if (isSelected && ipBlock !== undefined)
    problems.forbidden(path, 'may not specify both ipBlock and another peer')
}

function validateBlock(
  { cidr, except = [] }: IPBlock,
  path: FieldPath,
  known: ReadonlySet<string>,
  problems: ProblemList,
): void {
  if (cidr === '') return problems.required(path.child('cidr'))
  if (!known.has(cidr)) validateRange(path.child('cidr'), cidr, problems)
  const whole = parseCidr(cidr)
  for (const [index, range] of except.entries()) {
    const place = path.child('except').index(index)
    if (!known.has(range)) validateRange(place, range, problems)
    const part = parseCidr(range)
    if (whole === undefined || part === undefined) continue
    const isInside =
      part.base.family === whole.base.family &&
      part.bits < whole.bits &&
      part.base.value >> BigInt(whole.bits) === whole.base.value >> BigInt(whole.bits)
    if (!isInside) problems.invalid(place, range, 'must be a strict subset of `cidr`')
  }
}

function portsOf({ ingress = [], egress = [] }: NetworkPolicySpec) {
  const of = (name: string, rules: readonly { readonly ports?: readonly NetworkPolicyPort[] | undefined }[]) =>
    rules.flatMap(({ ports = [] }, rule) =>
      ports.map((port, index) => ({ port, path: SPEC.child(name).index(rule).child('ports').index(index) })),
    )
  return [...of('ingress', ingress), ...of('egress', egress)]
}

function peersOf({ ingress = [], egress = [] }: NetworkPolicySpec = {}) {
  const of = (name: string, list: string, rules: readonly (readonly NetworkPolicyPeer[])[]) =>
    rules.flatMap((peers, rule) =>
      peers.map((peer, index) => ({ peer, path: SPEC.child(name).index(rule).child(list).index(index) })),
    )
  return [
    ...of(
      'ingress',
      'from',
      ingress.map(({ from = [] }) => from),
    ),
    ...of(
      'egress',
      'to',
      egress.map(({ to = [] }) => to),
    ),
  ]
}

function blocksOf({ spec }: StoredPolicy): readonly IPBlock[] {
  return peersOf(spec).flatMap(({ peer }) => peer.ipBlock ?? [])
}

function rangesOf({ cidr, except = [] }: IPBlock): readonly string[] {
  return [cidr, ...except]
}

/** A range of addresses, as "10.9.8.0/24"; its address has to be the first one of it. */
function validateRange(path: FieldPath, range: string, problems: ProblemList): void {
  const cidr = parseCidr(range)
  const [address = ''] = range.split('/')
  if (PADDED.test(range) && parseCidr(withoutPadding(range)) !== undefined)
    problems.invalid(path, range, 'must not have leading 0s in IP or prefix length')
  else if (cidr === undefined)
    problems.invalid(path, range, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')
  else if (ipAddress(address) !== undefined) problems.invalid(path, range, 'must not have an IPv4-mapped IPv6 address')
  else if (parseIp(address)?.value !== cidr.base.value)
    problems.invalid(path, range, 'must not have bits set beyond the prefix length')
}

function withoutPadding(range: string): string {
  return range.replaceAll(/(?<=^|[./])0+(?=\d)/g, '')
}
