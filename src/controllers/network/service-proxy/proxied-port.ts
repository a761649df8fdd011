import type { EndpointTarget } from '../endpoints/compute-targets.ts'
import type { IpFamily } from '../../../model/text/ip-number.ts'

/** One port of a service in one family, with all that decides where its connections go. */
export interface ProxiedPort {
  /** "namespace/name/port/protocol/family", of which names in nftables are made. */
  readonly id: string
  readonly family: IpFamily
  readonly protocol: 'tcp' | 'udp' | 'sctp'
  readonly port: number
  readonly clusterIP: string | undefined
  readonly nodePort: number | undefined
  /** Of balancers. */
  readonly balancerIPs: readonly string[]
  readonly externalIPs: readonly string[]
  /** Who may come to the addresses of balancers; empty: all. */
  readonly sourceRanges: readonly string[]
  /** How long a client stays with one target; undefined: not at all. */
  readonly affinitySeconds: number | undefined
  readonly isInternalLocal: boolean
  readonly isExternalLocal: boolean
  /** Where connections go that may go anywhere. */
  readonly targets: readonly EndpointTarget[]
  /** Where those go that must stay on the node. */
  readonly localTargets: readonly EndpointTarget[]
  /** Whether the service listens at its own address itself, as that of the API does: nothing is to be translated. */
  readonly isAtHome: boolean
}
