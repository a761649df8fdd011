import type { PolicyRule } from '../../model/generated/api-groups.ts'
import { coversPath } from './authorize-by-roles.ts'

/** One verb on one resource, or on one object of it, or on one path. */
type Right = PolicyRule

/** What rules give that others do not, with the verbs of a resource together. */
export function findMissingRights(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const missing = wanted.flatMap(toRights).filter((right) => !owned.some((rule) => covers(rule, right)))
  return joinVerbs(missing)
}

function toRights({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule) {
  const named = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }))
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        named.map((names): Right => ({ apiGroups: [group], resources: [resource], ...names, verbs: [verb] })),
      ),
    ),
  )
  const ofPaths = nonResourceURLs.flatMap((url) =>
    verbs.map((verb): Right => ({ nonResourceURLs: [url], verbs: [verb] })),
  )
  return [...ofResources, ...ofPaths]
}

function covers(rule: PolicyRule, right: Right): boolean {
  const { resourceNames = [] } = rule
  return (
    has(rule.verbs, right.verbs) &&
    has(rule.apiGroups ?? [], right.apiGroups ?? []) &&
    (right.resources ?? []).every((each) => coversResource(rule.resources ?? [], each)) &&
    (right.nonResourceURLs ?? []).every((url) => (rule.nonResourceURLs ?? []).some((each) => coversPath(each, url))) &&
    (resourceNames.length === 0 || (right.resourceNames ?? ['']).every((name) => resourceNames.includes(name)))
  )
}

function has(list: readonly string[], values: readonly string[]): boolean {
  return list.includes('*') || values.every((value) => list.includes(value))
}

function coversResource(resources: readonly string[], resource: string): boolean {
  if (resources.includes('*') || resources.includes(resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && resources.includes(`*${resource.slice(slash)}`)
}

function joinVerbs(rights: readonly Right[]): readonly PolicyRule[] {
  const groups = Map.groupBy(rights, (right) => ruleText({ ...right, verbs: right.nonResourceURLs ? right.verbs : [] }))
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, verbs: [first, ...others].flatMap(({ verbs }) => verbs) }],
  )
}

/** As messages show a rule: {APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}. */
export function ruleText({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  })
  return `{${parts.flatMap(([name, list]) => (list?.length ? [`${name}:${listText(list)}`] : [])).join(', ')}}`
}

export function listText(list: readonly string[]): string {
  return `[${list.map((each) => JSON.stringify(each)).join(' ')}]`
}
