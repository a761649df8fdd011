import { matchesLabelSelector } from '../../../model/pod/matching/matches-label-selector.ts'
import type { NetworkPolicy } from '../../../model/generated/api-groups.ts'
import { hashText } from '../../engine/hash-text.ts'
import type { Live } from '../../engine/live-object.ts'
import { formatHook, NftTableBuilder } from '../nft/nft-state.ts'
import type { NftState } from '../nft/nft-state.ts'
import { addPolicyRule } from './add-policy-rule.ts'
import type { PolicyRule } from './add-policy-rule.ts'
import { FAMILY_TERMS } from './family-terms.ts'
import type { FamilyTerms } from './family-terms.ts'
import type { PolicyPod } from './policy-pod.ts'

/** The parts of the node's network that the rules depend on. */
export interface PolicyNetwork {
  /** The device that all pods are attached to. */
  readonly bridge: string
  /** Where names are answered: every pod may ask there. */
  readonly dnsAddresses: readonly string[]
}

type Direction = 'ingress' | 'egress'

const NAMES = { ingress: { map: 'in', type: 'Ingress' }, egress: { map: 'eg', type: 'Egress' } } as const
// Names in nftables have at most 255 characters; some more come behind it.
const LONGEST_ID = 200
// Without them no neighbour of IPv6 is found, whatever it may say then.
const NEIGHBOURS = 'icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert } accept'

/**
 * The table that enforces policies. What comes from a pod is judged by the policies of its sender, then by those of its receiver; what the
 * node sends to its own pods passes through neither. An address on the bridge that no known pod has may neither send nor be sent to: so a new pod
 * is never open, and none gets around its policies with an address that is not its own.
 */
export function computePolicyState(
  policies: readonly Live<NetworkPolicy>[],
  pods: readonly PolicyPod[],
  network: PolicyNetwork,
): NftState {
  const table = new NftTableBuilder()
  declareHooks(table, network)
  const chosen = policies.map((policy) => ({
    policy,
    id: idOf(policy.metadata.namespace, [policy.metadata.name]),
    selected: pods.filter(
      ({ namespace, labels }) =>
        namespace === policy.metadata.namespace && matchesLabelSelector(policy.spec.podSelector ?? {}, labels),
    ),
  }))
  for (const direction of ['egress', 'ingress'] as const) {
    const acting = chosen.filter(({ policy }) => policy.spec.policyTypes?.includes(NAMES[direction].type))
    for (const { policy, id, selected } of acting) {
      const { namespace } = policy.metadata
      const name = `${NAMES[direction].map}_${id}`
      const lines = rulesOf(policy, direction).flatMap((rule, index) =>
        addPolicyRule(table, rule, { name: `${name}/${index}`, direction, namespace, selected, pods }),
      )
      table.chain(name, lines)
    }
    for (const pod of pods) {
      const own = acting.filter(({ selected }) => selected.includes(pod))
      addPod(table, pod, direction, own)
    }
  }
  return { sets: table.sets, chains: table.chains }
}

function rulesOf({ spec }: Live<NetworkPolicy>, direction: Direction): readonly PolicyRule[] {
  return direction === 'ingress'
    ? (spec.ingress ?? []).map(({ from = [], ports = [] }) => ({ peers: from, ports }))
    : (spec.egress ?? []).map(({ to = [], ports = [] }) => ({ peers: to, ports }))
}

function declareHooks(table: NftTableBuilder, { bridge, dnsAddresses }: PolicyNetwork): void {
  for (const { suffix, type } of FAMILY_TERMS) {
    table.declare(`eg${suffix}`, 'map', `type ${type} : verdict`)
    table.declare(`in${suffix}`, 'map', `type ${type} : verdict`)
    table.declare(`self${suffix}`, 'set', `type ${type} . ${type}`)
  }
  const each = (rule: (terms: FamilyTerms) => string) => FAMILY_TERMS.map(rule)
  const device = `"${bridge}"`
  const known = 'ct state established,related accept'
  table.chain('deny', ['counter drop'])
  table.chain('ingress', [
    `oifname != ${device} accept`,
    ...each(({ ip, suffix }) => `${ip} daddr vmap @in${suffix}`),
    'goto deny',
  ])
  table.chain('egress', [...each(({ ip, suffix }) => `${ip} saddr vmap @eg${suffix}`), 'goto deny'])
  table.chain(
    'forward',
    [
      known,
      NEIGHBOURS,
      ...each(({ ip, suffix }) => `${ip} saddr . ${ip} daddr @self${suffix} accept`),
      `iifname ${device} goto egress`,
      `oifname ${device} goto ingress`,
    ],
    formatHook('filter', 'forward', 0),
  )
  table.chain(
    'input',
    [
      known,
      `iifname != ${device} accept`,
      NEIGHBOURS,
      ...dnsAddresses.map((address) => {
        const ip = address.includes(':') ? 'ip6' : 'ip'
        return `${ip} daddr ${address} meta l4proto { tcp, udp } th dport 53 accept`
      }),
      'goto egress',
    ],
    formatHook('filter', 'input', 0),
  )
}

/** Pods with the same policies share a chain. */
function addPod(
  table: NftTableBuilder,
  pod: PolicyPod,
  direction: Direction,
  policies: readonly { readonly id: string; readonly policy: Live<NetworkPolicy> }[],
): void {
  const { map } = NAMES[direction]
  const names = policies.map(({ policy }) => policy.metadata.name).sort()
  const chain = `pods-${map}_${idOf(pod.namespace, names)}`
  const isOpen = policies.length === 0
  if (!isOpen && !table.chains.has(chain))
    table.chain(chain, [...policies.map(({ id }) => `jump ${map}_${id}`), 'goto deny'])
  const open = direction === 'egress' ? 'goto ingress' : 'accept'
  for (const { suffix, family } of FAMILY_TERMS) {
    for (const address of pod.addresses) {
      if (address.family !== family) continue
      table.put(`${map}${suffix}`, address.text, isOpen ? open : `goto ${chain}`)
      table.put(`self${suffix}`, `${address.text} . ${address.text}`, '')
    }
  }
}

/** A name for policies of a namespace: their own where it is one that nftables takes. */
function idOf(namespace: string, names: readonly string[]): string {
  const [only = ''] = names
  if (names.length === 1 && namespace.length + only.length < LONGEST_ID) return `${namespace}/${only}`
  // Two of them, since one is short enough to be the same by chance; no policy can be called so.
  return `${namespace}/_${hashText(names, undefined)}_${hashText(['', ...names], undefined)}`
}
