import type { ObjectReader } from '../kinds/object-reader.ts'
import type { RequestAttributes } from './request-attributes.ts'

/** Whether something is allowed, and by what or why not. */
export interface AuthorizationDecision {
  readonly allowed: boolean
  readonly reason: string
}

/** What a role may do to resources; every rule says all of it. */
export interface ResourceRule {
  readonly verbs: readonly string[]
  readonly group: string
  /** With its subresource: "pods/log". */
  readonly resources: readonly string[]
}

/** Whether a certificate request was made by a user. */
export function isOwnRequest(objects: ObjectReader, name: string, userName: string): boolean {
  if (name === '') return false
  const resource = 'certificatesigningrequests.certificates.k8s.io'
  return objects.get({ resource, namespace: '', name })?.spec.username === userName
}

/** Whether one of the rules allows something. */
export function isIn(
  rules: readonly ResourceRule[],
  { verb, group, resource, subresource }: RequestAttributes,
): boolean {
  const asked = subresource === '' ? resource : `${resource}/${subresource}`
  return rules.some((rule) => rule.group === group && rule.verbs.includes(verb) && rule.resources.includes(asked))
}

export function allow(reason: string): AuthorizationDecision {
  return { allowed: true, reason }
}

export function deny(reason: string): AuthorizationDecision {
  return { allowed: false, reason }
}
