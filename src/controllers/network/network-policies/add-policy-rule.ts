import { matchesLabelSelector } from '../../../model/pod/matching/matches-label-selector.ts'
import type { NetworkPolicyPeer, NetworkPolicyPort } from '../../../model/generated/api-groups.ts'
import type { NftTableBuilder } from '../nft/nft-state.ts'
import { parseIp } from '../../../model/text/ip-number.ts'
import { computeBlockSpans, formatAddressSpan, formatPortSpan, mergeSpans } from './compute-ranges.ts'
import { FAMILY_TERMS } from './family-terms.ts'
import type { FamilyTerms } from './family-terms.ts'
import type { PolicyPod } from './policy-pod.ts'

/** One rule of a policy: who, and at which ports. None of either means all. */
export interface PolicyRule {
  readonly peers: readonly NetworkPolicyPeer[]
  readonly ports: readonly NetworkPolicyPort[]
}

interface RulePlace {
  /** The beginning of the names of its sets. */
  readonly name: string
  readonly direction: 'ingress' | 'egress'
  /** Of the policy. */
  readonly namespace: string
  /** The pods that the policy is for. */
  readonly selected: readonly PolicyPod[]
  readonly pods: readonly PolicyPod[]
}

/** What a packet has to match in one family, or in any. */
interface Match {
  readonly family: FamilyTerms['family'] | undefined
  readonly text: string
}

/**
 * The lines of nftables for one rule; each lets through what it matches. Pods are in sets, so that one that comes or goes changes only an
 * element; what the policy itself says stands in the lines.
 */
export function addPolicyRule(table: NftTableBuilder, rule: PolicyRule, place: RulePlace): readonly string[] {
  const verdict = place.direction === 'ingress' ? 'accept' : 'goto ingress'
  const addresses = matchPeers(table, rule.peers, place)
  const numbered = matchPorts(rule.ports)
  const lines = addresses.flatMap(({ text }) => numbered.map((port) => join(text, port, verdict)))
  return [...lines, ...matchNames(table, rule, place, addresses).map((text) => join(text, verdict))]
}

function matchPeers(table: NftTableBuilder, peers: readonly NetworkPolicyPeer[], place: RulePlace): readonly Match[] {
  if (peers.length === 0) return [{ family: undefined, text: '' }]
  const side = place.direction === 'ingress' ? 'saddr' : 'daddr'
  const hasSelectors = peers.some(({ ipBlock }) => ipBlock === undefined)
  const chosen = place.pods.filter((pod) => peers.some((peer) => isSelected(peer, pod, place.namespace)))
  return FAMILY_TERMS.flatMap((terms): readonly Match[] => {
    const { family, ip, suffix, type } = terms
    const set = `${place.name}-pods${suffix}`
    if (hasSelectors) {
      table.declare(set, 'set', `type ${type}`)
      for (const address of addressesIn(chosen, terms)) table.put(set, address, '')
    }
    const spans = computeBlockSpans(
      peers.flatMap(({ ipBlock }) => ipBlock ?? []),
      family,
    ).map((span) => formatAddressSpan(span, family))
    return [
      ...(hasSelectors ? [{ family, text: `${ip} ${side} @${set}` }] : []),
      ...(spans.length > 0 ? [{ family, text: `${ip} ${side} { ${spans.join(', ')} }` }] : []),
    ]
  })
}

/** Ports by number, and whole protocols. */
function matchPorts(ports: readonly NetworkPolicyPort[]): readonly string[] {
  if (ports.length === 0) return ['']
  return ['TCP', 'UDP', 'SCTP'].flatMap((protocol) => {
    const own = ports.filter((port) => (port.protocol ?? 'TCP') === protocol)
    const term = protocol.toLowerCase()
    if (own.some(({ port }) => port === undefined)) return [`meta l4proto ${term}`]
    const spans = mergeSpans(
      own.flatMap(({ port, endPort = port }) =>
        typeof port === 'number' && typeof endPort === 'number' ? [[BigInt(port), BigInt(endPort)] as const] : [],
      ),
    )
    return spans.length === 0 ? [] : [`${term} dport { ${spans.map(formatPortSpan).join(', ')} }`]
  })
}

/** Ports by name: each pod that receives has its own number for it. */
function matchNames(
  table: NftTableBuilder,
  { peers, ports }: PolicyRule,
  place: RulePlace,
  addresses: readonly Match[],
): readonly string[] {
  const wanted = ports.filter(({ port }) => typeof port === 'string')
  if (wanted.length === 0) return []
  const isIngress = place.direction === 'ingress'
  const receivers = isIngress ? place.selected : place.pods.filter((pod) => isPeer(peers, pod, place.namespace))
  return FAMILY_TERMS.flatMap((terms) => {
    const set = `${place.name}-ports${terms.suffix}`
    table.declare(set, 'set', `type ${terms.type} . inet_proto . inet_service`)
    for (const pod of receivers) {
      for (const { name, protocol, port } of pod.ports) {
        if (!wanted.some((each) => each.port === name && (each.protocol ?? 'TCP') === protocol)) continue
        for (const address of addressesIn([pod], terms))
          table.put(set, `${address} . ${protocol.toLowerCase()} . ${port}`, '')
      }
    }
    const text = `${terms.ip} daddr . meta l4proto . th dport @${set}`
    if (!isIngress) return [text]
    return addresses
      .filter(({ family }) => family === undefined || family === terms.family)
      .map((address) => join(address.text, text))
  })
}

/** Whether a rule is about a pod as the other side. */
function isPeer(peers: readonly NetworkPolicyPeer[], pod: PolicyPod, namespace: string): boolean {
  return (
    peers.length === 0 ||
    peers.some((peer) =>
      peer.ipBlock === undefined
        ? isSelected(peer, pod, namespace)
        : pod.addresses.some(({ family, text }) => {
            const value = parseIp(text)?.value ?? -1n
            return computeBlockSpans(peer.ipBlock === undefined ? [] : [peer.ipBlock], family).some(
              ([first, last]) => first <= value && value <= last,
            )
          }),
    )
  )
}

/** Selectors of one entry hold together; without one of namespaces it is that of the policy. */
function isSelected(peer: NetworkPolicyPeer, pod: PolicyPod, namespace: string): boolean {
  const { podSelector, namespaceSelector, ipBlock } = peer
  if (ipBlock !== undefined) return false
  const isIn =
    namespaceSelector === undefined
      ? pod.namespace === namespace
      : matchesLabelSelector(namespaceSelector, pod.namespaceLabels)
  return isIn && matchesLabelSelector(podSelector ?? {}, pod.labels)
}

function addressesIn(pods: readonly PolicyPod[], { family }: FamilyTerms): readonly string[] {
  return pods.flatMap(({ addresses }) => addresses.flatMap((each) => (each.family === family ? each.text : [])))
}

function join(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ')
}
