import type { Resource, Subresource } from '../kinds/resource.ts'
import { compareVersions } from '../custom-resources/custom-resource.ts'
import type { ResourceTable } from '../custom-resources/resource-table.ts'
import { apiVersionOf } from './present.ts'

/** Every group, in the order of the table of resources; the core's group is empty. */
function groupsOf({ all }: ResourceTable): readonly string[] {
  return [...new Set(all.map(({ group }) => group))]
}

/** The versions of a group with what each has, the preferred one first. */
function versionsOf(
  { all }: ResourceTable,
  group: string,
): readonly (readonly [version: string, resources: readonly Resource[]])[] {
  const own = all.filter((resource) => resource.group === group)
  return [...Map.groupBy(own, ({ version }) => version)].sort(([a], [b]) => compareVersions(a, b))
}

/** GET /api: the versions of the core group. */
export function legacyVersions(resources: ResourceTable): object {
  return {
    kind: 'APIVersions',
    versions: versionsOf(resources, '').map(([version]) => version),
    serverAddressByClientCIDRs: [],
  }
}

/** GET /apis: every other group. */
export function groupList(resources: ResourceTable): object {
  const named = groupsOf(resources).filter((group) => group !== '')
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map((group) => describeGroup(resources, group)) }
}

/** GET /apis/GROUP; undefined when there is no such group. */
export function groupOf(resources: ResourceTable, group: string): object | undefined {
  if (group === '' || !groupsOf(resources).includes(group)) return undefined
  return { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(resources, group) }
}

function describeGroup(resources: ResourceTable, name: string) {
  const versions = versionsOf(resources, name).map(([version]) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions, preferredVersion: versions[0] }
}

/** GET /api/v1 or /apis/GROUP/VERSION; undefined when there is no such group and version. */
export function resourceList(table: ResourceTable, group: string, version: string): object | undefined {
  const [, resources] = versionsOf(table, group).find(([each]) => each === version) ?? []
  if (resources?.[0] === undefined) return undefined
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf(resources[0]),
    resources: resources.flatMap((resource) => [
      describeResource(resource),
      ...resource.subresources.map((subresource) => describeSubresource(resource, subresource)),
    ]),
  }
}

function describeResource(resource: Resource): object {
  const { plural, singular, isNamespaced, kind, verbs, shortNames, categories } = resource
  return {
    name: plural,
    singularName: singular,
    namespaced: isNamespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
  }
}

function describeSubresource(resource: Resource, { name, kind, verbs }: Subresource): object {
  return {
    name: `${resource.plural}/${name}`,
    singularName: '',
    namespaced: resource.isNamespaced,
    ...(kind && kind.group !== resource.group && { group: kind.group, version: kind.version }),
    kind: kind?.kind ?? resource.kind,
    verbs,
  }
}

/** GET /api or /apis in one piece, as newer clients ask for it. */
export function aggregatedDiscovery(table: ResourceTable, isCore: boolean): object {
  const names = groupsOf(table).filter((group) => (group === '') === isCore)
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: names.map((group) => ({
      metadata: { ...(group !== '' && { name: group }), creationTimestamp: null },
      versions: versionsOf(table, group).map(([version, resources]) => ({
        version,
        freshness: 'Current',
        resources: resources.map(aggregated),
      })),
    })),
  }
}

function aggregated(resource: Resource): object {
  const { plural, singular, isNamespaced, group, version, kind, verbs, shortNames, categories, subresources } = resource
  return {
    resource: plural,
    responseKind: { group, version, kind },
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && {
      subresources: subresources.map((each) => ({
        subresource: each.name,
        responseKind: each.kind
          ? { group: each.kind.group, version: each.kind.version, kind: each.kind.kind }
          : { group, version, kind },
        verbs: each.verbs,
      })),
    }),
  }
}
