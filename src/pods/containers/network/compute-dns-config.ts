import type { DNSConfig } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { PodDNSConfig } from '../../../model/generated/core-v1.ts'
import { podText } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { mergeResolverOptions } from './parse-resolv-conf.ts'
import type { ResolvConf } from './parse-resolv-conf.ts'

/** How names are resolved on this node. */
export interface DnsSettings {
  readonly clusterDns: readonly string[]
  readonly clusterDomain: string
  /** The path of the node's own resolver file; empty when the configuration names none. */
  readonly resolvConf: string
  /** Decides which loopback address stands in for a node without a resolver file. */
  readonly primaryFamily: 'IPv4' | 'IPv6'
}

/** The same, with what the resolver file says now; undefined when the configuration names none. */
export interface ReadDnsSettings extends DnsSettings {
  readonly host: ResolvConf | undefined
}

/** Something about the resolver that users are warned of, by an event of this reason. */
export interface DnsWarning {
  readonly reason: 'MissingClusterDNS' | 'DNSConfigForming'
  readonly message: string
}

export interface NodeDnsWarning {
  readonly reason: 'MissingClusterDNS' | 'CheckLimitsForResolvConf'
  readonly message: string
}

export interface PodDns {
  readonly config: DNSConfig
  readonly warnings: readonly DnsWarning[]
}

// The limits of the C library's resolver.
const MOST_SERVERS = 3
const MOST_SEARCHES = 32
const LONGEST_SEARCH_LINE = 2048
const LONGEST_SEARCH = 253
// The search domains of a cluster: of the namespace, of all services, of the cluster.
const CLUSTER_SEARCHES = 3

/** The resolver configuration of a pod, within the resolver's limits; what had to be left out is reported as warnings. */
export function computeDnsConfig(pod: Pod, settings: ReadDnsSettings): PodDns {
  const base = computeBase(pod, settings)
  const warnings: DnsWarning[] = []
  // Without a cluster domain there is no cluster DNS: then the node says so, once for all pods.
  if (base === 'missing-cluster-dns' && settings.clusterDomain !== '') {
    warnings.push({ reason: 'MissingClusterDNS', message: `pod: "${podText(pod)}". ${MISSING_CLUSTER_DNS}` })
  }
  const wanted = append(base === 'missing-cluster-dns' ? hostResolver(settings) : base, pod.spec.dnsConfig)
  const limited = limit(wanted)
  const cuts = limited.cuts.map((message): DnsWarning => ({ reason: 'DNSConfigForming', message }))
  return { config: limited.config, warnings: [...warnings, ...cuts] }
}

/** What the node has to say at its start about the resolver of its pods. */
export function computeNodeDnsWarnings(
  settings: Pick<ReadDnsSettings, 'host' | 'clusterDns' | 'clusterDomain' | 'resolvConf'>,
): readonly NodeDnsWarning[] {
  const { host, clusterDns } = settings
  const excess = host === undefined ? undefined : findExcess(host, settings)
  return [
    ...(clusterDns.length === 0 ? [{ reason: 'MissingClusterDNS' as const, message: MISSING_CLUSTER_DNS }] : []),
    ...(excess === undefined ? [] : [{ reason: 'CheckLimitsForResolvConf' as const, message: excess }]),
  ]
}

const MISSING_CLUSTER_DNS =
  'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.'

/** The first thing in a resolver file that no pod can have whole. */
function findExcess(
  { searches }: ResolvConf,
  { clusterDomain, resolvConf }: Pick<DnsSettings, 'clusterDomain' | 'resolvConf'>,
): string | undefined {
  const mostSearches = MOST_SEARCHES - (clusterDomain === '' ? 0 : CLUSTER_SEARCHES)
  if (searches.length > mostSearches)
    return `Resolv.conf file '${resolvConf}' contains search line consisting of more than ${mostSearches} domains!`
  if (searches.some((domain) => domain.length > LONGEST_SEARCH))
    return `Resolv.conf file "${resolvConf}" contains a search path which length is more than allowed ${LONGEST_SEARCH} chars!`
  if (searches.join(' ').length > LONGEST_SEARCH_LINE)
    return `Resolv.conf file '${resolvConf}' contains search line which length is more than allowed ${LONGEST_SEARCH_LINE} chars!`
  return undefined
}

function dnsPolicy(pod: Pod): string {
  return pod.spec.dnsPolicy ?? 'ClusterFirst'
}

function computeBase(pod: Pod, settings: ReadDnsSettings): DNSConfig | 'missing-cluster-dns' {
  const policy = dnsPolicy(pod)
  if (policy === 'None') return { servers: [], searches: [], options: [] }
  if (policy === 'Default' || (policy === 'ClusterFirst' && pod.spec.hostNetwork === true)) {
    return hostResolver(settings)
  }
  if (settings.clusterDns.length === 0) return 'missing-cluster-dns'
  return {
    servers: settings.clusterDns,
    searches: clusterSearches(pod.metadata.namespace, settings),
    options: ['ndots:5'],
  }
}

function hostResolver({ host, primaryFamily }: ReadDnsSettings): DNSConfig {
  return host ?? { servers: [primaryFamily === 'IPv6' ? '::1' : '127.0.0.1'], searches: ['.'], options: [] }
}

function clusterSearches(namespace: string, { clusterDomain: domain, host }: ReadDnsSettings): readonly string[] {
  const hostSearches = host?.searches ?? []
  if (domain === '') return hostSearches
  return unique([`${namespace}.svc.${domain}`, `svc.${domain}`, domain, ...hostSearches])
}

function append(base: DNSConfig, extra: PodDNSConfig | undefined): DNSConfig {
  if (extra === undefined) return base
  const options = (extra.options ?? []).map(({ name = '', value }) =>
    value === undefined || value === '' ? name : `${name}:${value}`,
  )
  return {
    servers: unique([...base.servers, ...(extra.nameservers ?? [])]),
    searches: unique([...base.searches, ...(extra.searches ?? [])]),
    options: mergeResolverOptions(base.options, options),
  }
}

function limit(wanted: DNSConfig): { readonly config: DNSConfig; readonly cuts: readonly string[] } {
  const servers = wanted.servers.slice(0, MOST_SERVERS)
  const searches = wanted.searches.slice(0, MOST_SEARCHES).filter((domain) => domain.length <= LONGEST_SEARCH)
  while (searches.join(' ').length > LONGEST_SEARCH_LINE) searches.pop()
  return {
    config: { servers, searches, options: wanted.options },
    cuts: [
      ...(servers.length < wanted.servers.length
        ? [
            `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${servers.join(' ')}`,
          ]
        : []),
      ...(searches.length < wanted.searches.length
        ? [
            `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${searches.join(' ')}`,
          ]
        : []),
    ],
  }
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}
