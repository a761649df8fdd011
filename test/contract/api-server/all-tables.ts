import type { ContractTable } from './contract-case.ts'
import { applyBasics } from './tables/apply/apply-basics.ts'
import { applyErrors } from './tables/apply/apply-errors.ts'
import { applyKinds } from './tables/apply/apply-kinds.ts'
import { applyPods } from './tables/apply/apply-pods.ts'
import { autoscalers } from './tables/autoscalers.ts'
import { declaredResizes } from './tables/declared-resizes.ts'
import { deletion } from './tables/deletion.ts'
import { ingresses } from './tables/ingresses.ts'
import { kinds, lives } from './tables/kinds.ts'
import { longTimes } from './tables/long-times.ts'
import { networkPolicies } from './tables/network-policies.ts'
import { patches } from './tables/patches.ts'
import { discovery, namespaces } from './tables/paths.ts'
import { podDefaults } from './tables/pod-defaults.ts'
import { podValidation } from './tables/pod-validation.ts'
import { customObjects } from './tables/custom-objects.ts'
import { definitions } from './tables/definitions.ts'
import { quotaTable } from './tables/quotas.ts'
import { escalation } from './tables/role-escalation.ts'
import { roleAccess } from './tables/role-access.ts'
import { defaultRoles, roles } from './tables/roles.ts'
import { lists, selectors, watches } from './tables/reading.ts'
import { access, podSubresources, reviews } from './tables/subresources.ts'
import { printed } from './tables/tables-of-kinds.ts'
import { warnings } from './tables/warnings.ts'
import { bodies, fieldValidation, updates } from './tables/writing.ts'

/** Every table of cases; a new one is listed here. */
export const allTables: readonly ContractTable[] = [
  podDefaults,
  podValidation,
  kinds,
  lives,
  patches,
  selectors,
  lists,
  watches,
  printed,
  fieldValidation,
  warnings,
  bodies,
  updates,
  deletion,
  podSubresources,
  declaredResizes,
  longTimes,
  reviews,
  access,
  discovery,
  namespaces,
  roles,
  defaultRoles,
  roleAccess,
  escalation,
  applyBasics,
  applyErrors,
  applyPods,
  applyKinds,
  definitions,
  customObjects,
  quotaTable,
  networkPolicies,
  autoscalers,
  ingresses,
]
