/** Which rules: those for IPv4 or for IPv6. */
export type IptablesFamily = 'ipv4' | 'ipv6'

/** Checked from time to time: while it is there, the tables have not been flushed. */
export const CANARY_CHAIN = 'KUBE-KUBELET-CANARY'
// Others find out by it which of the two iptables of the machine is in use.
const HINT_CHAIN = 'KUBE-IPTABLES-HINT'
const FIREWALL_CHAIN = 'KUBE-FIREWALL'
const COMMENT = '"block incoming localnet connections"'
// kube-proxy may set route_localnet, which makes services on loopback addresses reachable from outside: all other packets are blocked.
const BLOCK_LOOPBACK =
  `-A ${FIREWALL_CHAIN} -m comment --comment ${COMMENT} -d 127.0.0.0/8 ! -s 127.0.0.0/8 ` +
  '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP'

/**
 * The input for iptables-restore, without flushing, so that all chains and rules are there; given the filter table as iptables-save
 * writes it. Our own empty chains are declared again; what others put into the firewall chain stays.
 */
export function computeIptablesInput(family: IptablesFamily, filterTable: string): string {
  const firewall = family === 'ipv4' ? computeFirewall(filterTable.split('\n').map((line) => line.trim())) : []
  return [
    ...table('mangle', [declare(HINT_CHAIN), declare(CANARY_CHAIN)]),
    ...table('nat', [declare(CANARY_CHAIN)]),
    ...table('filter', [declare(CANARY_CHAIN), ...firewall]),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

function computeFirewall(present: readonly string[]): readonly string[] {
  const isThere = (start: string, end = '') => present.some((line) => line.startsWith(start) && line.endsWith(end))
  const jump = (chain: string) => `${chain} -j ${FIREWALL_CHAIN}`
  const jumps = ['INPUT', 'OUTPUT'].filter((chain) => !present.includes(`-A ${jump(chain)}`))
  const isBlocked = present.some(
    (line) => line.startsWith(`-A ${FIREWALL_CHAIN} `) && line.includes(COMMENT) && line.endsWith('-j DROP'),
  )
  return [
    ...(isThere(`:${FIREWALL_CHAIN} `) ? [] : [declare(FIREWALL_CHAIN)]),
    ...jumps.map((chain) => `-I ${jump(chain)}`),
    ...(isBlocked ? [] : [BLOCK_LOOPBACK]),
  ]
}

function declare(chain: string): string {
  return `:${chain} - [0:0]`
}

function table(name: string, lines: readonly string[]): readonly string[] {
  return [`*${name}`, ...lines, 'COMMIT']
}
