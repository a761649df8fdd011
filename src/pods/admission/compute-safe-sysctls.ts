import { isVersionAtLeast } from '../../model/text/is-version-at-least.ts'

// What a pod sets of these reaches no other pod and not the node; the kernel must keep them apart for each namespace.
const SAFE_SYSCTLS: readonly (readonly [name: string, sinceKernel: string])[] = [
  ['kernel.shm_rmid_forced', '0.0'],
  ['net.ipv4.ip_local_port_range', '0.0'],
  ['net.ipv4.tcp_syncookies', '0.0'],
  ['net.ipv4.ping_group_range', '0.0'],
  ['net.ipv4.ip_unprivileged_port_start', '0.0'],
  ['net.ipv4.ip_local_reserved_ports', '3.16'],
  ['net.ipv4.tcp_keepalive_time', '4.5'],
  ['net.ipv4.tcp_keepalive_intvl', '4.5'],
  ['net.ipv4.tcp_keepalive_probes', '4.5'],
  ['net.ipv4.tcp_fin_timeout', '4.6'],
  ['net.ipv4.tcp_rmem', '4.15'],
  ['net.ipv4.tcp_wmem', '4.15'],
]

/** The sysctls that every pod may set on a kernel of this release, such as "6.1.0-18-amd64". */
export function computeSafeSysctls(kernelRelease: string): string[] {
  return SAFE_SYSCTLS.filter(([, since]) => isVersionAtLeast(kernelRelease, since)).map(([name]) => name)
}
