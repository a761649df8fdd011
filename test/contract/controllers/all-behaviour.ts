import type { BehaviourCase } from './behaviour-case.ts'
import { autoscalerCases } from './cases/autoscalers.ts'
import { cronJobCases } from './cases/cron-jobs.ts'
import { daemonSetCases } from './cases/daemon-sets.ts'
import { deploymentCases } from './cases/deployments.ts'
import { disruptionBudgetCases } from './cases/disruption-budgets.ts'
import { endpointCases } from './cases/endpoints.ts'
import { jobCases } from './cases/jobs.ts'
import { ownerCases } from './cases/owners.ts'
import { replicaSetCases } from './cases/replica-sets.ts'
import { statefulSetCases } from './cases/stateful-sets.ts'

/** Every case, by what it is about; a new table is listed here. */
export const allBehaviour: Readonly<Record<string, readonly BehaviourCase[]>> = {
  deployments: deploymentCases,
  'replica-sets': replicaSetCases,
  'daemon-sets': daemonSetCases,
  'stateful-sets': statefulSetCases,
  jobs: jobCases,
  'cron-jobs': cronJobCases,
  'disruption-budgets': disruptionBudgetCases,
  owners: ownerCases,
  endpoints: endpointCases,
  autoscalers: autoscalerCases,
}
