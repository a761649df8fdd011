import type { HostAlias } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { PodHostname } from './compute-hostname.ts'

const ETC_HOSTS = '/etc/hosts'

const LOCAL_NAMES = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
]

/** What the text of a pod's hosts file depends on. */
export interface EtcHostsInput {
  readonly pod: Pod
  readonly podIps: readonly string[]
  readonly hostname: PodHostname
  /** The node's own hosts file, which pods in its network share. */
  readonly nodeEtcHosts: string
}

/** The text of a pod's hosts file. */
export function computeEtcHosts({ pod, podIps, hostname, nodeEtcHosts }: EtcHostsInput): string {
  const aliases = aliasText(pod.spec.hostAliases ?? [])
  if (pod.spec.hostNetwork === true) {
    return `# Kubernetes-managed hosts file (host network).\n${nodeEtcHosts}${aliases}`
  }
  const names = hostname.domain === '' ? hostname.short : `${hostname.short}.${hostname.domain}\t${hostname.short}`
  const lines = ['# Kubernetes-managed hosts file.', ...LOCAL_NAMES, ...podIps.map((ip) => `${ip}\t${names}`)]
  return `${lines.join('\n')}\n${aliases}`
}

/** Does a container get the pod's hosts file? Not over a mount of its own, and not before the pod has an address. */
export function wantsEtcHosts(
  pod: Pod,
  mounts: readonly { readonly containerPath: string }[],
  podIps: readonly string[],
): boolean {
  if (podIps.length === 0 && pod.spec.hostNetwork !== true) return false
  return mounts.every(({ containerPath }) => containerPath !== ETC_HOSTS)
}

function aliasText(aliases: readonly HostAlias[]): string {
  if (aliases.length === 0) return ''
  const lines = aliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join('\t'))
  return `\n# Entries added by HostAliases.\n${lines.join('\n')}\n`
}
