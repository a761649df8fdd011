import type { PolicyRule } from '../../model/generated/api-groups.ts'
import { allow, deny } from '../auth/authorization-decision.ts'
import type { AuthorizationDecision } from '../auth/authorization-decision.ts'
import type { RequestAttributes } from '../auth/request-attributes.ts'
import { findRules, missingText } from './find-rules.ts'
import type { Roles } from './roles.ts'

/** Whether a binding gives a user the right to do something. Rules only add to each other; no rule takes anything away. */
export function authorizeByRoles(attributes: RequestAttributes, roles: Roles): AuthorizationDecision {
  const faults: string[] = []
  const namespace = attributes.isResource ? attributes.namespace : ''
  for (const { source, rules, missing } of findRules(roles, attributes.user, namespace)) {
    if (rules.some((rule) => ruleAllows(rule, attributes))) return allow(`RBAC: allowed by ${source}`)
    if (missing !== undefined) faults.push(missingText(missing))
  }
  const distinct = [...new Set(faults)]
  if (distinct.length === 0) return deny('')
  return deny(`RBAC: ${distinct.length === 1 ? distinct[0] : `[${distinct.join(', ')}]`}`)
}

/** Whether one rule allows a request. */
export function ruleAllows(
  { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule,
  { isResource, verb, path, group, resource, subresource, name }: RequestAttributes,
): boolean {
  if (!has(verbs, verb)) return false
  if (!isResource) return nonResourceURLs.some((each) => coversPath(each, path))
  if (!has(apiGroups, group) || !coversResource(resources, resource, subresource)) return false
  return resourceNames.length === 0 || resourceNames.includes(name)
}

function has(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value)
}

function coversResource(resources: readonly string[], resource: string, subresource: string): boolean {
  if (subresource === '') return has(resources, resource)
  return has(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`)
}

/** A path, all paths, or all that begin as the text before a star at the end. */
export function coversPath(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true
  return pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, ''))
}
