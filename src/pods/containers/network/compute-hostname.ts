import type { Pod } from '../../../model/pod/pod.ts'
import { SandboxConfigError } from '../pod-config-error.ts'

/** What a pod calls itself: its short name, and the domain that makes it findable when there is one. */
export interface PodHostname {
  readonly short: string
  /** Empty when the pod is in no subdomain. */
  readonly domain: string
}

const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const LONGEST_LABEL = 63
const LONGEST_SUBDOMAIN = 253
// What the kernel takes as a host name.
const LONGEST_HOSTNAME = 64

/** The names of a pod by its spec, also written into its hosts file. */
export function computePodHostname(pod: Pod, clusterDomain: string): PodHostname {
  const { hostnameOverride, hostname, subdomain } = pod.spec
  if (isSet(hostnameOverride)) {
    requireName('hostnameOverride', hostnameOverride, isSubdomain(hostnameOverride))
    return { short: cut(hostnameOverride), domain: '' }
  }
  if (isSet(hostname)) requireName('hostname', hostname, isLabel(hostname))
  const short = cut(isSet(hostname) ? hostname : pod.metadata.name)
  if (!isSet(subdomain)) return { short, domain: '' }
  requireName('subdomain', subdomain, isLabel(subdomain))
  return { short, domain: `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}` }
}

/** The host name that the runtime sets; none in the network of the node, which has its own. */
export function computeSandboxHostname(pod: Pod, clusterDomain: string): string {
  if (pod.spec.hostNetwork === true) return ''
  const { short, domain } = computePodHostname(pod, clusterDomain)
  if (pod.spec.setHostnameAsFQDN !== true || domain === '') return short
  const full = `${short}.${domain}`
  if (full.length > LONGEST_HOSTNAME) {
    throw new SandboxConfigError(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (${LONGEST_HOSTNAME} characters is the max, ${full.length} characters requested)`,
    )
  }
  return full
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== ''
}

function cut(name: string): string {
  return name.slice(0, LONGEST_LABEL).replace(/[-.]+$/, '')
}

function isLabel(text: string): boolean {
  return text.length <= LONGEST_LABEL && LABEL.test(text)
}

function isSubdomain(text: string): boolean {
  return text.length <= LONGEST_SUBDOMAIN && text.split('.').every((part) => LABEL.test(part))
}

function requireName(field: string, value: string, valid: boolean): void {
  if (valid) return
  throw new SandboxConfigError(`Cannot use "${value}" as spec.${field}: expected lower-case letters, digits and dashes`)
}
