import type { Change, ChangeSet } from './change-set.ts'
import { followNamespaces } from './follow-namespaces.ts'
import { followApiService } from './api-service.ts'
import { followOwners } from './follow-owners.ts'
import { followDefinitions } from '../custom-resources/follow-definitions.ts'
import { followQuotas } from '../quota/apply-quotas.ts'
import { followClusterRoles } from '../rbac/follow-cluster-roles.ts'
import { followVolumes } from './follow-volumes.ts'

// A cluster has controllers for these; here they act at once, in the transaction of the change.
const followers: readonly ((changes: ChangeSet, change: Change) => void)[] = [
  followNamespaces,
  followApiService,
  followOwners,
  followVolumes,
  followClusterRoles,
  followDefinitions,
  followQuotas,
]

/** Does all that follows from the changes so far, and from what that changes in turn. */
export function settleChanges(changes: ChangeSet): void {
  for (let change = changes.takeChange(); change !== undefined; change = changes.takeChange()) {
    for (const follow of followers) follow(changes, change)
  }
}
