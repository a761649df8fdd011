import { readKernelSetting, writeKernelSetting } from '../../../system/machine/kernel-settings.ts'
import { switchedOff } from '../switchable-parts.ts'
import { NFT_MISSING } from './find-rules-program.ts'

export const POLICIES = 'networkpolicies.networking.k8s.io'

// Whether packets between two ports of one bridge pass through the rules of IP.
const BRIDGE_SETTINGS = ['net.bridge.bridge-nf-call-iptables', 'net.bridge.bridge-nf-call-ip6tables'] as const

export interface PolicyGround {
  readonly without: readonly string[]
  /** Of another runtime than the private one. */
  readonly runtime: string | undefined
  /** Why nft cannot be used, if it cannot. */
  readonly nftProblem: string | undefined
  readonly seesBridge: boolean
}

/** Why network policies cannot be enforced on this node; undefined when they are. One that was taken and ignored would be worse than none. */
export function computePolicyRefusal({ without, runtime, nftProblem, seesBridge }: PolicyGround): string | undefined {
  const off = switchedOff(without).get(POLICIES)
  if (off !== undefined) return off
  if (runtime !== undefined)
    return `the network of the pods belongs to another runtime (${runtime}), so this node cannot enforce it`
  if (nftProblem === NFT_MISSING)
    return `${nftProblem}, so nothing could enforce it; on Debian: apt-get install nftables`
  if (nftProblem !== undefined) return `nothing could enforce it: ${nftProblem}`
  if (!seesBridge)
    return 'packets between two pods pass through no rules on this kernel, so nothing could enforce it: it has no br_netfilter'
  return undefined
}

export function findPolicyRefusal(ground: Omit<PolicyGround, 'seesBridge'>): string | undefined {
  return computePolicyRefusal({ ...ground, seesBridge: seesBridge() })
}

export function seesBridge(): boolean {
  return readKernelSetting(BRIDGE_SETTINGS[0]) === 1
}

export function knowsBridge(): boolean {
  return readKernelSetting(BRIDGE_SETTINGS[0]) !== undefined
}

/** Has packets between two ports of a bridge pass through the rules of IP, where the kernel can; returns whether they did not before. */
export function ensureBridgeIsSeen(): boolean {
  const unset = BRIDGE_SETTINGS.filter((name) => readKernelSetting(name) !== 1)
  for (const name of unset) writeKernelSetting({ name, wanted: 1, found: undefined })
  return unset.length > 0
}
