const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const DNS_SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

/** "name" or "example.com/name": the keys of labels and taints. */
export function isQualifiedName(key: string): boolean {
  const slash = key.indexOf('/')
  const prefix = key.slice(0, Math.max(slash, 0))
  return NAME.test(key.slice(slash + 1)) && (slash < 0 || isDnsSubdomain(prefix))
}

/** A DNS name, as most objects have. */
export function isDnsSubdomain(name: string): boolean {
  return name.length <= 253 && DNS_SUBDOMAIN.test(name)
}

/** The value of a label or taint; may be empty. */
export function isLabelValue(value: string): boolean {
  return value === '' || NAME.test(value)
}
