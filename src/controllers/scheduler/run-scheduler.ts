import type { Clock } from '../../base/async/clock.ts'
import { BackOff } from '../../base/async/back-off.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { PodDisruptionBudget, StorageClass } from '../../model/generated/api-groups.ts'
import type { Namespace, Node, PersistentVolume, PersistentVolumeClaim } from '../../model/generated/core-v1.ts'
import { podLogName } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { ObjectCache } from '../../protocols/kube-api/followers/object-cache.ts'
import { isNotFound, KubeApiError } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { KubeObject, ObjectEvent } from '../../protocols/kube-api/list-watch/kube-object.ts'
import { runListWatch } from '../../protocols/kube-api/list-watch/run-list-watch.ts'
import { applyDecision } from './apply-decision.ts'
import type { ClusterView } from './cluster-view.ts'
import { computeSchedule } from './compute-schedule.ts'
import type { SchedulingDecision } from './compute-schedule.ts'

export interface SchedulerDeps {
  readonly client: KubeClient
  readonly nodeName: string
  readonly events: PodEvents
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

// Parity: the back-off of pods that cannot be scheduled.
const RETRY = { firstMs: 1000, longestMs: 10_000 }

/** Gives pods without a node the one there is when they fit, and reports why when they do not, until the signal aborts. */
export async function runScheduler(deps: SchedulerDeps, signal: AbortSignal): Promise<void> {
  const wakeup = new Wakeup()
  const caches = {
    pods: new ObjectCache<Pod>(),
    nodes: new ObjectCache<Node>(),
    claims: new ObjectCache<PersistentVolumeClaim>(),
    volumes: new ObjectCache<PersistentVolume>(),
    storageClasses: new ObjectCache<StorageClass>(),
    namespaces: new ObjectCache<Namespace>(),
    budgets: new ObjectCache<PodDisruptionBudget>(),
  }
  await using group = new TaskGroup(signal)
  const follow = <T extends KubeObject>(path: string, cache: ObjectCache<T>) => {
    const onReplace = (items: readonly T[]) => {
      cache.replace(items)
      wakeup.wake()
    }
    const onEvent = (event: ObjectEvent<T>) => {
      cache.apply(event)
      wakeup.wake()
    }
    group.run(path, (s) => runListWatch<T>({ ...deps, path, onReplace, onEvent }, s))
  }
  follow('/api/v1/pods', caches.pods)
  follow('/api/v1/nodes', caches.nodes)
  follow('/api/v1/persistentvolumeclaims', caches.claims)
  follow('/api/v1/persistentvolumes', caches.volumes)
  follow('/apis/storage.k8s.io/v1/storageclasses', caches.storageClasses)
  follow('/api/v1/namespaces', caches.namespaces)
  follow('/apis/policy/v1/poddisruptionbudgets', caches.budgets)
  group.run('decisions', (s) => runDecisions(deps, caches, wakeup, s))
  await group.join()
}

interface Caches {
  readonly pods: ObjectCache<Pod>
  readonly nodes: ObjectCache<Node>
  readonly claims: ObjectCache<PersistentVolumeClaim>
  readonly volumes: ObjectCache<PersistentVolume>
  readonly storageClasses: ObjectCache<StorageClass>
  readonly namespaces: ObjectCache<Namespace>
  readonly budgets: ObjectCache<PodDisruptionBudget>
}

/** The last decision about each pod that waits, by UID, as far as it was written. */
type Written = Map<string, SchedulingDecision>

async function runDecisions(deps: SchedulerDeps, caches: Caches, wakeup: Wakeup, signal: AbortSignal): Promise<never> {
  const written: Written = new Map()
  const backOff = new BackOff(RETRY)
  for (;;) {
    const areRead = Object.values(caches).every(({ hasSynced }) => hasSynced)
    const isDone = !areRead || (await decideAll(deps, caches, written, signal))
    if (isDone) backOff.reset()
    await wakeup.wait({ clock: deps.clock, ms: isDone ? undefined : backOff.next() }, signal)
  }
}

/** False when something failed that a second try may help. */
async function decideAll(deps: SchedulerDeps, caches: Caches, written: Written, signal: AbortSignal): Promise<boolean> {
  const { client, events, clock, nodeName, log } = deps
  let isDone = true
  for (const decision of computeSchedule(toView(caches, nodeName, written))) {
    const { pod } = decision
    try {
      if (isSame(written.get(pod.metadata.uid), decision)) continue
      if (await isUnseen(client, decision, signal)) continue
      await applyDecision({ client, events, clock }, decision, signal)
      written.set(pod.metadata.uid, decision)
      if (decision.kind === 'bind') log.info('bound a pod to the node', { pod: podLogName(pod), uid: pod.metadata.uid })
    } catch (error) {
      if (signal.aborted) throw error
      // The pod is not any more as it was, which the watch reports.
      const isOutdated = error instanceof KubeApiError && (error.code === 404 || error.code === 409)
      if (!isOutdated) isDone = false
      log.warn('cannot write what becomes of a pod', { pod: podLogName(pod), isOutdated, error })
    }
  }
  return isDone
}

/** Whether the API has what a pod seems to lack: each kind has its own watch, and one of them is late. It wakes us when it is there. */
async function isUnseen(client: KubeClient, decision: SchedulingDecision, signal: AbortSignal): Promise<boolean> {
  if (decision.kind !== 'wait' || decision.missing === undefined) return false
  try {
    await client.send({ method: 'GET', path: decision.missing }, signal)
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/** With what we wrote ourselves, which the watch may not have shown yet. */
function toView(caches: Caches, nodeName: string, written: Written): ClusterView {
  const pods = caches.pods.values()
  const waiting = new Set(pods.filter(({ spec }) => !spec.nodeName).map(({ metadata }) => String(metadata.uid)))
  for (const uid of written.keys()) if (!waiting.has(uid)) written.delete(uid)
  const isBound = ({ metadata }: Pod) => written.get(metadata.uid)?.kind === 'bind'
  return {
    node: caches.nodes.get('', nodeName),
    pods: pods.map((pod) => (isBound(pod) ? { ...pod, spec: { ...pod.spec, nodeName } } : pod)),
    claims: caches.claims.values(),
    volumes: caches.volumes.values(),
    storageClasses: caches.storageClasses.values(),
    namespaces: caches.namespaces.values(),
    budgets: caches.budgets.values(),
  }
}

function isSame(before: SchedulingDecision | undefined, now: SchedulingDecision): boolean {
  if (before?.kind === 'claim' && now.kind === 'claim') return claimVersions(before) === claimVersions(now)
  if (before?.kind !== 'wait' || now.kind !== 'wait') return false
  const names = ({ victims }: typeof now) => victims.map(({ metadata }) => metadata.uid).join()
  return (
    before.message === now.message && before.nominatedNodeName === now.nominatedNodeName && names(before) === names(now)
  )
}

/** A claim that changed and still has no volume is tried again. */
function claimVersions({ claims }: Extract<SchedulingDecision, { kind: 'claim' }>): string {
  return claims
    .map(({ claim, volume }) => `${claim.metadata?.resourceVersion} ${volume?.metadata?.resourceVersion}`)
    .join()
}
