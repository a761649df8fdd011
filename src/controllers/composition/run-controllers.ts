import { TaskGroup } from '../../base/async/task-group.ts'
import { createSupervisor } from '../../base/telemetry/create-supervisor.ts'
import { createEventRecorder } from '../../protocols/kube-api/events/create-event-recorder.ts'
import { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'
import type { KubeObject } from '../../protocols/kube-api/list-watch/kube-object.ts'
import { ApiObjects } from '../engine/api-objects.ts'
import { createControllers } from './create-controllers.ts'
import type { ControllersDeps } from './create-controllers.ts'

/** Acts on the workloads that an API has, until the signal aborts. */
export async function runControllers(deps: ControllersDeps, signal: AbortSignal): Promise<void> {
  const { clock, random, log } = deps
  const apiReturn = new ApiReturn()
  const followed: Pick<ApiObjects<KubeObject>, 'kind' | 'run'>[] = []
  const open = <T extends KubeObject>(apiVersion: string, kind: string, plural: string, fieldSelector?: string) => {
    const own = { apiVersion, kind, plural, ...(fieldSelector !== undefined && { fieldSelector }) }
    const objects = new ApiObjects<T>({ ...deps, apiReturn }, own)
    followed.push(objects)
    return objects
  }
  const recorder = createEventRecorder(deps)
  const controllers = createControllers(deps, open, (event) => recorder.record(event))
  // A fault in one of them must not end the others, nor the process, which serves the API too.
  const supervisor = createSupervisor({ clock, random, log, metrics: { loopFailed() {}, taskFailed() {} } })
  await using group = new TaskGroup(signal, supervisor)
  group.runLoop('events', (s) => recorder.run(s))
  for (const objects of followed) group.runLoop(objects.kind.plural, (s) => objects.run(s))
  for (const controller of controllers) group.runLoop(controller.name, (s) => controller.run(s))
  await group.join()
}
