import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type {
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Job,
  PodDisruptionBudget,
  ReplicaSet,
  StatefulSet,
} from '../../model/generated/api-groups.ts'
import type { Endpoints, Node, PersistentVolumeClaim, Pod, Service } from '../../model/generated/core-v1.ts'
import type { EventInput } from '../../protocols/kube-api/events/event-factory.ts'
import type { ApiObjects } from './api-objects.ts'

/** What the controllers share: each kind is listed and watched once for all of them. */
export interface ControllerDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly record: (event: EventInput) => void
  readonly pods: ApiObjects<Pod>
  readonly replicaSets: ApiObjects<ReplicaSet>
  readonly deployments: ApiObjects<Deployment>
  readonly nodes: ApiObjects<Node>
  readonly daemonSets: ApiObjects<DaemonSet>
  readonly revisions: ApiObjects<ControllerRevision>
  readonly statefulSets: ApiObjects<StatefulSet>
  readonly claims: ApiObjects<PersistentVolumeClaim>
  readonly budgets: ApiObjects<PodDisruptionBudget>
  readonly jobs: ApiObjects<Job>
  readonly cronJobs: ApiObjects<CronJob>
  readonly services: ApiObjects<Service>
  readonly slices: ApiObjects<EndpointSlice>
  readonly endpoints: ApiObjects<Endpoints>
}
