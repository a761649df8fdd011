import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { findResource } from '../kinds/all-resources.ts'
import { asStored, createObjectReader } from '../kinds/object-reader.ts'
import type { ObjectIn } from '../kinds/stored-types.ts'
import type { ApiStore } from '../store/api-store.ts'
import { ChangeSet } from './change-set.ts'
import type { ChangeInfo } from './change-set.ts'
import { computeReturningPod, computeShutdownFate, isReadyNode, SHUTDOWN_TEXTS } from './compute-returning-pod.ts'
import { createObject } from './create-object.ts'
import { settleChanges } from './settle-changes.ts'

export interface ReturningPodsDeps {
  readonly store: ApiStore
  readonly info: () => ChangeInfo
  readonly clock: Clock
  readonly log: Logger
}

const COALESCE_MS = 500

/** Creates pods again, or removes them, that the shutdown of their node has ended, once the node is ready again, until the signal aborts. */
export async function runReturningPods(deps: ReturningPodsDeps, signal: AbortSignal): Promise<void> {
  const wakeup = new Wakeup()
  const stops = ['nodes', 'pods'].map((resource) => deps.store.onChange(resource, () => wakeup.wake()))
  try {
    for (;;) {
      await returnAll(deps)
      await wakeup.wait({ clock: deps.clock, ms: undefined }, signal)
      // Pods change often.
      await deps.clock.sleep(COALESCE_MS, signal)
    }
  } finally {
    for (const stop of stops) stop()
  }
}

async function returnAll({ store, info, log }: ReturningPodsDeps): Promise<void> {
  const objects = createObjectReader(store)
  for (const { metadata, spec } of listEnded(store)) {
    const { namespace = '', name = '', uid } = metadata
    if (!isReadyNode(objects.get({ resource: 'nodes', namespace: '', name: spec?.nodeName ?? '' }))) continue
    try {
      await store.write((transaction) => replacePod(new ChangeSet(transaction, info()), { namespace, name, uid }))
      log.info('a pod that the shutdown of its node had ended is replaced', { pod: `${namespace}/${name}` })
    } catch (error) {
      log.error('cannot replace a pod that the shutdown of its node had ended', {
        pod: `${namespace}/${name}`,
        error,
      })
    }
  }
}

/** The database looks for them: on a large cluster pods change all the time, and nearly none of them was ended so. */
function listEnded(store: Pick<ApiStore, 'list'>): readonly ObjectIn<'pods'>[] {
  const found = SHUTDOWN_TEXTS.flatMap((containing) => store.list({ resource: 'pods', containing }))
  const pods = new Map(found.map(({ object }) => [object.metadata.uid, asStored('pods', object)]))
  return [...pods.values()].filter((pod) => computeShutdownFate(pod) !== undefined)
}

/** In one transaction: no crash leaves the node without the pod. */
function replacePod(
  changes: ChangeSet,
  { namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid: string | undefined },
): void {
  const key = { resource: 'pods', namespace, name } as const
  const pod = changes.objects.get(key)
  const resource = findResource('', 'v1', 'pods')
  const fate = pod?.metadata.uid === uid && pod !== undefined ? computeShutdownFate(pod) : undefined
  if (resource === undefined || pod === undefined || fate === undefined) return
  changes.remove(key)
  if (fate === 'return') createObject(changes, resource, computeReturningPod(pod))
  settleChanges(changes)
}
