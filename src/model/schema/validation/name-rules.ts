import { isIP } from 'node:net'
import type { NameRule } from './problem-list.ts'

const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const SEARCH_DOMAIN = /^_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?(?:\._?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?)*$/
const QUALIFIED = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const SYSCTL = /^(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/

/** A DNS label: up to 63 of a-z, 0-9 and "-", as container and volume names are. */
export const dnsLabel: NameRule = (value) =>
  value.length <= 63 && LABEL.test(value)
    ? undefined
    : "must be at most 63 lower case letters, digits or '-', starting and ending with a letter or digit"

/** A DNS name: up to 253 of labels joined by dots, as most object names are. */
export const dnsSubdomain: NameRule = (value) =>
  value.length <= 253 && SUBDOMAIN.test(value)
    ? undefined
    : "must be at most 253 lower case letters, digits, '-' or '.', each part starting and ending with a letter or digit"

/** A search domain of a resolver, in which "_" is legal. */
export const searchDomain: NameRule = (value) =>
  value.length <= 253 && SEARCH_DOMAIN.test(value)
    ? undefined
    : "must be a DNS name of lower case letters, digits, '-', '_' and '.'"

/** "name" or "prefix/name", as label keys, annotation keys and resource names are. */
export const qualifiedName: NameRule = (value) => {
  const parts = value.split('/')
  const name = parts.at(-1) ?? ''
  if (parts.length > 2) return "must be a name with at most one prefix before '/'"
  if (parts.length === 2 && dnsSubdomain(parts[0] ?? '') !== undefined) return "must have a DNS name before the '/'"
  return name.length <= 63 && QUALIFIED.test(name)
    ? undefined
    : "must have a name part of 1 to 63 letters, digits, '-', '_' or '.', starting and ending with a letter or digit"
}

/** Those of the system have no domain. */
const STANDARD_FINALIZERS = ['foregroundDeletion', 'kubernetes', 'orphan']

/** What keeps an object until it is removed from it. */
export const finalizerName: NameRule = (value) =>
  qualifiedName(value) ??
  (value.includes('/') || STANDARD_FINALIZERS.includes(value)
    ? undefined
    : 'must have a domain, as in "example.com/finalizer"')

/** The value of a label: empty, or up to 63 letters, digits, "-", "_" and ".". */
export const labelValue: NameRule = (value) =>
  value === '' || (value.length <= 63 && QUALIFIED.test(value))
    ? undefined
    : "must be empty or at most 63 letters, digits, '-', '_' or '.', starting and ending with a letter or digit"

/** The name of a port: what IANA allows as a service name. */
export const portName: NameRule = (value) => {
  const isLegal = value.length <= 15 && /^[-a-z0-9]+$/.test(value) && /[a-z]/.test(value)
  return isLegal && !value.includes('--') && !/^-|-$/.test(value)
    ? undefined
    : "must be at most 15 lower case letters, digits or single '-' inside, with at least one letter"
}

/** The name of an environment variable: printable ASCII without "=". */
export const envName: NameRule = (value) =>
  /^[ -<>-~]+$/.test(value) ? undefined : "must be printable ASCII characters without '='"

/** A key of a ConfigMap or Secret, which becomes a file name. */
export const configKey: NameRule = (value) =>
  value.length <= 253 && /^[-._a-zA-Z0-9]+$/.test(value) && value !== '.' && !value.startsWith('..')
    ? undefined
    : "must be at most 253 letters, digits, '-', '_' or '.', not '.' and not starting with '..'"

/** The name of an HTTP header. */
export const headerName: NameRule = (value) =>
  /^[-A-Za-z0-9]+$/.test(value) ? undefined : "must be letters, digits or '-'"

/** An IP address of either family, as written by people; not one of IPv4 that is written as one of IPv6. */
export const ipAddress: NameRule = (value) => {
  if (isIP(value) === 0 || value.includes('%')) return 'must be a valid IP address (e.g. 10.9.8.7 or 2001:db8::ffff)'
  return MAPPED.test(canonicalAddress(value)) ? 'must not be an IPv4-mapped IPv6 address' : undefined
}

const MAPPED = /^::ffff:[0-9a-f]+:[0-9a-f]+$/

/** An address as RFC 5952 writes it. */
export function canonicalAddress(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}

/** The name of a kernel parameter, with dots or slashes. */
export const sysctlName: NameRule = (value) =>
  value.length <= 253 && SYSCTL.test(value)
    ? undefined
    : "must be at most 253 lower case letters, digits, '-', '_', joined by '.' or '/'"

/** A path that cannot leave its directory by "..". */
export const noBacksteps: NameRule = (value) =>
  value.split('/').includes('..') ? "may not go upwards with '..'" : undefined

/** A relative path inside its directory. */
export const descendingPath: NameRule = (value) =>
  value.startsWith('/') ? 'may not begin with a slash' : noBacksteps(value)

/** A relative path whose first name is not one that atomic volume updates use for themselves. */
export const localPath: NameRule = (value) =>
  descendingPath(value) ??
  (value.startsWith('..') ? "may not begin with '..', a name that volumes use themselves" : undefined)
