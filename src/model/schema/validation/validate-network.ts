import type { PodDNSConfig, PodSpec } from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { dnsLabel, dnsSubdomain, ipAddress, searchDomain } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'

const MAX_NAMESERVERS = 3
const MAX_SEARCHES = 32
const MAX_SEARCH_CHARACTERS = 2048
const MAX_HOSTNAME = 64
const DNS_POLICIES = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']

/** Host names, name resolution and the ports of pods on the host's network. */
export function validateNetwork(spec: PodSpec, path: FieldPath, problems: ProblemList): void {
  problems.oneOf(path.child('dnsPolicy'), spec.dnsPolicy, DNS_POLICIES)
  validateDnsConfig(spec, path.child('dnsConfig'), problems)
  for (const name of ['hostname', 'subdomain'] as const) {
    if (spec[name]) problems.matches(path.child(name), spec[name], dnsLabel)
  }
  validateHostnameOverride(spec, path.child('hostnameOverride'), problems)
  for (const [index, alias] of (spec.hostAliases ?? []).entries()) {
    const at = path.child('hostAliases').index(index)
    problems.matches(at.child('ip'), alias.ip, ipAddress)
    for (const [position, name] of (alias.hostnames ?? []).entries()) {
      problems.matches(at.child('hostnames').index(position), name, dnsSubdomain)
    }
  }
  if (spec.hostNetwork === true) validateHostNetworkPorts(spec, path, problems)
}

function validateHostnameOverride(spec: PodSpec, path: FieldPath, problems: ProblemList): void {
  if (spec.hostnameOverride === undefined) return
  if (spec.setHostnameAsFQDN === true) problems.forbidden(path, 'not together with setHostnameAsFQDN')
  if (spec.hostNetwork === true) problems.forbidden(path, 'not together with hostNetwork')
  if (spec.hostnameOverride.length > MAX_HOSTNAME) problems.tooLong(path, MAX_HOSTNAME)
  problems.matches(path, spec.hostnameOverride, dnsSubdomain)
}

function validateHostNetworkPorts(spec: PodSpec, path: FieldPath, problems: ProblemList): void {
  for (const [index, container] of spec.containers.entries()) {
    for (const [position, port] of (container.ports ?? []).entries()) {
      if ((port.hostPort ?? 0) === port.containerPort) continue
      const at = path.child('containers').index(index).child('ports').index(position).child('hostPort')
      problems.invalid(at, port.hostPort ?? 0, 'must equal containerPort on the network of the host')
    }
  }
}

function validateDnsConfig(spec: PodSpec, path: FieldPath, problems: ProblemList): void {
  const config: PodDNSConfig = spec.dnsConfig ?? {}
  const { nameservers = [], searches = [], options = [] } = config
  if (spec.dnsPolicy === 'None') {
    if (spec.dnsConfig === undefined) return problems.required(path, 'dnsPolicy None needs it')
    if (nameservers.length === 0) {
      return problems.required(path.child('nameservers'), 'dnsPolicy None needs one')
    }
  }
  if (nameservers.length > MAX_NAMESERVERS)
    problems.tooMany(path.child('nameservers'), nameservers.length, MAX_NAMESERVERS)
  for (const [index, address] of nameservers.entries()) {
    problems.matches(path.child('nameservers').index(index), address, ipAddress)
  }
  if (searches.length > MAX_SEARCHES) problems.tooMany(path.child('searches'), searches.length, MAX_SEARCHES)
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS) problems.tooLong(path.child('searches'), MAX_SEARCH_CHARACTERS)
  for (const [index, search] of searches.entries()) {
    if (search !== '.') problems.matches(path.child('searches').index(index), search.replace(/\.$/, ''), searchDomain)
  }
  for (const [index, option] of options.entries()) {
    if (!option.name) problems.required(path.child('options').index(index).child('name'), 'an option needs a name')
  }
}
