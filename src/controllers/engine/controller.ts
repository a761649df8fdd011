import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { KubeObject } from '../../protocols/kube-api/list-watch/kube-object.ts'
import type { ApiObjects } from './api-objects.ts'
import { controllerOf, keyOf, parseWorkKey } from './live-object.ts'
import type { Live, WorkKey } from './live-object.ts'
import { WorkQueue } from './work-queue.ts'
import type { NextTurn } from './work-queue.ts'
import { KubeApiError } from '../../protocols/kube-api/kube-client.ts'

/** Brings the objects of one kind, one after the other, closer to what they ask for. */
export interface Controller {
  readonly name: string
  run(signal: AbortSignal): Promise<void>
}

export interface ControllerParts {
  readonly name: string
  readonly queue: WorkQueue
  /** What has to be known before anything is decided. */
  readonly reads: readonly Pick<ApiObjects<KubeObject>, 'untilSynced'>[]
  readonly reconcile: (key: WorkKey, signal: AbortSignal) => Promise<NextTurn>
}

export function createController({ name, queue, reads, reconcile }: ControllerParts): Controller {
  return {
    name,
    async run(signal) {
      for (const objects of reads) await objects.untilSynced(signal)
      await queue.run(reconcile, signal)
    },
  }
}

/** The pass of a controller over one object of a kind; an object that is gone needs none. */
export function reconcileKnown<T extends KubeObject>(
  objects: ApiObjects<T>,
  reconcile: (object: Live<T>, signal: AbortSignal) => Promise<NextTurn>,
): ControllerParts['reconcile'] {
  return async (key, signal) => {
    const { namespace, name } = parseWorkKey(key)
    const object = objects.known.get(namespace, name)
    return object === undefined ? undefined : await reconcile(object, signal)
  }
}

/** The queue of a controller; failures are logged, those of a race with other writers only for developers. */
export function createQueue(name: string, { clock, log }: { readonly clock: Clock; readonly log: Logger }): WorkQueue {
  return new WorkQueue({
    clock,
    onFailure: (key, error) => {
      const isRace = error instanceof KubeApiError && error.reason === 'Conflict'
      const fields = { controller: name, object: key, error }
      if (isRace) log.debug('an object changed under a controller, will try again', fields)
      else log.warn('a controller failed with an object, will try again', fields)
    },
  })
}

/** Queues each object of a kind when it changes. */
export function queueChanges<T extends KubeObject>(queue: WorkQueue, { known }: ApiObjects<T>): void {
  known.onChange((after, before) => {
    const object = after ?? before
    if (object !== undefined) queue.add(keyOf(object))
  })
}

/** Queues the owner of each object of a kind when the object changes; `findForOrphan` finds the owners that could adopt one without an owner. */
export function queueOwners<C extends KubeObject, O extends KubeObject>(
  queue: WorkQueue,
  children: ApiObjects<C>,
  owners: ApiObjects<O>,
  mayAdopt: (owner: Live<O>, child: Live<C>) => boolean,
): void {
  const queueOwnerOf = (child: Live<C>) => {
    const controller = controllerOf(child)
    if (controller === undefined) {
      for (const owner of owners.known.in(child.metadata.namespace)) if (mayAdopt(owner, child)) queue.add(keyOf(owner))
      return
    }
    const owner = owners.known.get(child.metadata.namespace, controller.name)
    if (controller.kind === owners.kind.kind && owner?.metadata.uid === controller.uid) queue.add(keyOf(owner))
  }
  children.known.onChange((after, before) => {
    if (before !== undefined && controllerOf(before)?.uid !== (after && controllerOf(after)?.uid)) queueOwnerOf(before)
    if (after !== undefined) queueOwnerOf(after)
  })
}
