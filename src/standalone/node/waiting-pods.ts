import { TaskGroup } from '../../base/async/task-group.ts'
import type { Event, PersistentVolumeClaim, Pod } from '../../model/generated/core-v1.ts'
import { claimNamesOf } from '../../model/storage/claims-of-pod.ts'
import { isControlled } from './agent/agent-client.ts'
import type { PodSummary } from './agent/agent-client.ts'
import type { ClientDeps } from './node-deps.ts'
import type { NodeLayout } from './node-layout.ts'
import { readNodeRecord } from './node-record.ts'

/** A pod of the API that no node has yet, and so no agent knows of. */
export interface WaitingPod extends PodSummary {
  /** Its claims that have no volume, each with the reason. */
  readonly claims: readonly string[]
}

interface List<T> {
  readonly items: readonly T[]
}

/** What is there besides the pod. */
interface Surroundings {
  readonly claims: readonly PersistentVolumeClaim[]
  readonly events: readonly Event[]
  readonly hasScheduler: boolean
}

const DEADLINE_MS = 5000
const DEFAULT_SCHEDULER = 'default-scheduler'

/** The pods that wait for a node; none while the API does not answer. */
export async function listWaitingPods(
  deps: ClientDeps,
  layout: NodeLayout,
  signal: AbortSignal,
): Promise<readonly WaitingPod[]> {
  await using group = new TaskGroup(signal)
  try {
    const client = await deps.openClient(layout.adminKubeconfig, group)
    const ask = { method: 'GET', timeoutMs: DEADLINE_MS } as const
    const query = { fieldSelector: 'spec.nodeName=' }
    const pods = await client.send<List<Pod>>({ ...ask, path: '/api/v1/pods', query }, group.signal)
    if (pods.items.length === 0) return []
    const path = '/api/v1/persistentvolumeclaims'
    const claims = await client.send<List<PersistentVolumeClaim>>({ ...ask, path }, group.signal)
    const about = { fieldSelector: 'involvedObject.kind=PersistentVolumeClaim' }
    const events = await client.send<List<Event>>({ ...ask, path: '/api/v1/events', query: about }, group.signal)
    const record = await readNodeRecord(layout.record)
    const hasScheduler = record?.without?.includes('scheduler') !== true
    return pods.items.map((pod) => toWaitingPod(pod, { claims: claims.items, events: events.items, hasScheduler }))
  } catch (error) {
    if (signal.aborted) throw error
    return []
  }
}

/** What "status" and "why" say of a pod that waits. */
export function toWaitingPod(
  { metadata, spec, status }: Pod,
  { claims, events, hasScheduler }: Surroundings,
): WaitingPod {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const { schedulerName = DEFAULT_SCHEDULER } = spec ?? {}
  const other = hasScheduler ? '' : ': this node runs without one of its own (--without scheduler)'
  const silent = `Waits for the scheduler${schedulerName === DEFAULT_SCHEDULER ? other : ` "${schedulerName}"`}`
  const { namespace = 'default', name = '', uid = '' } = metadata ?? {}
  const used = claimNamesOf({ metadata, spec })
  const unbound = claims.filter(
    (claim) =>
      claim.metadata?.namespace === namespace &&
      used.includes(claim.metadata.name ?? '') &&
      claim.status?.phase !== 'Bound',
  )
  return {
    uid,
    namespace,
    name,
    phase: status?.phase ?? 'Pending',
    ready: false,
    restarts: 0,
    address: '',
    waiting: scheduled?.message ? `Waits for the node: ${scheduled.message}` : silent,
    isControlled: isControlled(metadata ?? {}),
    claims: unbound.map((claim) => describeClaim(claim, events)),
  }
}

/** With what was last said about it. */
function describeClaim({ metadata, spec }: PersistentVolumeClaim, events: readonly Event[]): string {
  const size = spec?.resources?.requests?.['storage'] ?? 'any size'
  const modes = spec?.accessModes?.join(', ') ?? ''
  const wanted = `${size}, ${modes}, storage class "${spec?.storageClassName ?? ''}"`
  const named = spec?.volumeName ? `; it asks for the volume "${spec.volumeName}"` : ''
  const last = events
    .filter(({ involvedObject }) => involvedObject.uid === metadata?.uid)
    .toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))[0]
  const why = last?.message
    ? `${last.reason}: ${last.message}`
    : 'no volume that is free has that, and none is made for it: create a PersistentVolume'
  return `claim "${metadata?.name ?? ''}" is not bound (${wanted}${named}): ${why}`
}

function timeOf({ lastTimestamp, eventTime, metadata }: Event): string {
  return lastTimestamp ?? eventTime ?? metadata?.creationTimestamp ?? ''
}
