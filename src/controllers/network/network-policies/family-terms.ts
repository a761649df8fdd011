/** How nftables calls what belongs to a family of addresses. */
export const FAMILY_TERMS = [
  { family: 'IPv4', suffix: '4', ip: 'ip', type: 'ipv4_addr' },
  { family: 'IPv6', suffix: '6', ip: 'ip6', type: 'ipv6_addr' },
] as const
export type FamilyTerms = (typeof FAMILY_TERMS)[number]
