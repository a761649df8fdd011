import { createCheckpointRoute } from './checkpoint-route.ts'
import type { CheckpointDeps } from './checkpoint-route.ts'
import { createAttachRoutes, createExecRoutes } from './exec-routes.ts'
import type { ExecDeps } from './exec-routes.ts'
import { createPortForwardRoutes } from './port-forward-routes.ts'
import type { PortForwardDeps } from './port-forward-routes.ts'
import type { Route } from '../../http/route.ts'
import { createRunRoutes } from './run-routes.ts'
import type { RunDeps } from './run-routes.ts'

/** What the endpoints need that reach into containers. */
export interface StreamRoutesDeps extends Omit<ExecDeps, 'calls'> {
  readonly calls: ExecDeps['calls'] & PortForwardDeps['calls'] & RunDeps['calls'] & CheckpointDeps['calls']
  /** The feature gate ContainerCheckpoint; undefined where it is off. */
  readonly checkpoints: Pick<CheckpointDeps, 'checkpointsDirectory' | 'makeDirectory'> | undefined
}

/** The endpoints that reach into containers: exec, attach, portForward, run, checkpoint. */
export function createStreamRoutes(deps: StreamRoutesDeps): Route[] {
  const { checkpoints } = deps
  return [
    ...createExecRoutes(deps),
    ...createAttachRoutes(deps),
    ...createPortForwardRoutes(deps),
    ...createRunRoutes(deps),
    ...(checkpoints === undefined ? [] : [createCheckpointRoute({ ...deps, ...checkpoints })]),
  ]
}
