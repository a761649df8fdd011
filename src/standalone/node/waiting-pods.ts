import { TaskGroup } from '../../base/async/task-group.ts'
import type { PersistentVolumeClaim, Pod } from '../../model/generated/core-v1.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { PodSummary } from './agent/agent-client.ts'
import type { ClientDeps } from './node-deps.ts'
import type { NodeLayout } from './node-layout.ts'

/** A pod of the API that no node has yet, and so no agent knows of. */
export interface WaitingPod extends PodSummary {
  /** Its claims that have no volume, each with the reason. */
  readonly claims: readonly string[]
}

/** The pods that wait for a node; none while the API does not answer. */
export async function listWaitingPods(
  deps: ClientDeps,
  layout: NodeLayout,
  signal: AbortSignal,
): Promise<readonly WaitingPod[]> {
  await using group = new TaskGroup(signal)
  try {
    const client = await deps.openClient(layout.adminKubeconfig, group)
    const query = { fieldSelector: 'spec.nodeName=' }
    const { items } = await list<Pod>(client, '/api/v1/pods', query, group.signal)
    if (items.length === 0) return []
    const claims = (await list<PersistentVolumeClaim>(client, '/api/v1/persistentvolumeclaims', {}, group.signal)).items
    return items.map((pod) => toWaitingPod(pod, claims))
  } catch (error) {
    if (signal.aborted) throw error
    return []
  }
}

async function list<T>(
  client: KubeClient,
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ readonly items: readonly T[] }> {
  return await client.send({ method: 'GET', path, query, timeoutMs: 5000 }, signal)
}

/** What "status" and "why" say of a pod that waits. */
export function toWaitingPod({ metadata, spec, status }: Pod, claims: readonly PersistentVolumeClaim[]): WaitingPod {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const other = spec?.schedulerName !== undefined && spec.schedulerName !== 'default-scheduler'
  const silent = other ? `Waits for the scheduler "${spec.schedulerName}"` : 'Waits for the scheduler'
  const { namespace = 'default', name = '', uid = '' } = metadata ?? {}
  const used = (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [])
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
    claims: unbound.map(describeClaim),
  }
}

function describeClaim({ metadata, spec }: PersistentVolumeClaim): string {
  const size = spec?.resources?.requests?.['storage'] ?? 'any size'
  const modes = spec?.accessModes?.join(', ') ?? ''
  const wanted = `${size}, ${modes}, storage class "${spec?.storageClassName ?? ''}"`
  const named = spec?.volumeName ? `; it asks for the volume "${spec.volumeName}"` : ''
  const why = 'no volume that is free has that; nothing here makes volumes: create a PersistentVolume'
  return `claim "${metadata?.name ?? ''}" is not bound (${wanted}${named}): ${why}`
}
