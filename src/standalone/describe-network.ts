import { formatPortProblem } from '../controllers/network/ingress/compute-port-problems.ts'
import type { PortProblem } from '../controllers/network/ingress/ingress-ports.ts'
import { formatIngressPorts } from './node/network/ingress-refusal.ts'
import type { ServiceLayout } from './node/node-layout.ts'
import type { NodeRecord } from './node/node-record.ts'

/** What there is to know of the node's network. */
export interface NetworkState {
  readonly record: Pick<NodeRecord, 'without' | 'ingressPorts'>
  readonly services: Pick<ServiceLayout, 'range' | 'dnsAddress'>
  /** Why the rules are written with iptables; undefined: they are not. */
  readonly iptablesReason: string | undefined
  /** Why network policies are not taken, if they are not. */
  readonly policyRefusal: string | undefined
  /** Whether "deckhand up" runs, in which everything of this is. */
  readonly isUp: boolean
  /** Whether the kernel has the rules of services and policies: they outlive "up", and go with "down" or the machine. */
  readonly hasRules: boolean
  /** Ports of the ingress that cannot be listened on; undefined before they were tried. */
  readonly portProblems: readonly PortProblem[] | undefined
}

/** The parts with a line of their own. */
export const NETWORK_PARTS = ['services', 'dns', 'policies', 'ingress']

const NOT_UP = '"deckhand up" does not run'

/** The lines of "status" about services, names, policies and Ingresses: what is true now, not what was asked for. */
export function describeNetwork(state: NetworkState): readonly string[] {
  return [
    `services   ${unlessOff(state, 'services', describeServices(state))}`,
    `names      ${unlessOff(state, 'dns', describeNames(state))}`,
    `policies   ${unlessOff(state, 'policies', describePolicies(state))}`,
    `ingress    ${unlessOff(state, 'ingress', describeIngress(state))}`,
  ]
}

function describeServices({ services, iptablesReason, isUp, hasRules }: NetworkState): string {
  const rules = iptablesReason === undefined ? '' : `, with rules of iptables: ${iptablesReason}`
  const addresses = `addresses in ${services.range}`
  if (isUp) return `${addresses}${rules}`
  return hasRules ? `${addresses}, whose rules follow no change: ${NOT_UP}` : `${addresses}, not forwarded: ${NOT_UP}`
}

function describeNames({ services, isUp }: NetworkState): string {
  return isUp ? `server at ${services.dnsAddress}` : `not answered: ${NOT_UP}`
}

function describePolicies({ policyRefusal, isUp, hasRules }: NetworkState): string {
  if (policyRefusal !== undefined) return `not taken: ${policyRefusal}`
  if (isUp) return 'enforced'
  return hasRules ? `enforced as they were, following no change: ${NOT_UP}` : 'enforced while the node is up'
}

function describeIngress({ record: { ingressPorts }, isUp, portProblems }: NetworkState): string {
  if (ingressPorts === undefined) return 'not served: no port was named for it'
  if (!isUp) return `not served: ${NOT_UP}`
  if (portProblems === undefined) return `${formatIngressPorts(ingressPorts)}: not open yet`
  const isClosed = (wanted: string) => portProblems.some(({ protocol }) => protocol === wanted)
  const open = {
    http: isClosed('http') ? undefined : ingressPorts.http,
    https: isClosed('https') ? undefined : ingressPorts.https,
  }
  return [formatIngressPorts(open), ...portProblems.map(formatPortProblem)].filter((text) => text !== '').join('; ')
}

/** The text about a part, or that it was left out. */
function unlessOff({ record: { without = [] } }: NetworkState, part: string, what: string): string {
  return without.includes(part) ? `switched off (--without ${part})` : what
}
