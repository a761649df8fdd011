import { sameValue } from '../../base/document/same-value.ts'
import { matchesLabelSelector } from '../../model/pod/matching/matches-label-selector.ts'
import type { ClusterRole, PolicyRule } from '../../model/generated/api-groups.ts'
import type { Change, ChangeSet } from '../lifecycle/change-set.ts'
import type { ObjectOf } from '../store/api-object.ts'
import { CLUSTER_ROLES } from './roles.ts'

/** After a change of a ClusterRole those that gather the rules of others have the rules of the others again. */
export function followClusterRoles(changes: ChangeSet, { key }: Change): void {
  // Of several changes the last one does it for all: the first start makes some sixty roles at once.
  if (key.resource !== CLUSTER_ROLES || changes.pending.some((change) => change.key.resource === CLUSTER_ROLES)) return
  const roles = changes.objects.list(CLUSTER_ROLES)
  for (const role of roles.filter(({ aggregationRule }) => aggregationRule !== undefined)) {
    const rules = computeAggregatedRules(role, roles)
    if (sameValue(rules, role.rules ?? [])) continue
    changes.put({ resource: CLUSTER_ROLES, namespace: '', name: role.metadata.name ?? '' }, { ...role, rules })
  }
}

/** The rules of all other roles that a selector of the role matches, by the order of their names, each once. */
export function computeAggregatedRules(
  { metadata, aggregationRule }: ObjectOf<ClusterRole>,
  roles: readonly ObjectOf<ClusterRole>[],
): readonly PolicyRule[] {
  const { clusterRoleSelectors = [] } = aggregationRule ?? {}
  const isGathered = (role: ObjectOf<ClusterRole>) =>
    role.metadata.name !== metadata.name &&
    clusterRoleSelectors.some((selector) => matchesLabelSelector(selector, role.metadata.labels ?? {}))
  const gathered = roles
    .filter(isGathered)
    .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
    .flatMap(({ rules }) => rules ?? [])
  return gathered.filter((rule, index) => gathered.findIndex((other) => sameValue(other, rule)) === index)
}
