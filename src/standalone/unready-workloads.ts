import { TaskGroup } from '../base/async/task-group.ts'
import type { Event } from '../model/generated/core-v1.ts'
import { computeUnreadyObject } from './compute-unready.ts'
import type { WorkloadObject } from './compute-unready.ts'
import type { ClientDeps } from './node/node-deps.ts'
import type { NodeLayout } from './node/node-layout.ts'

/** What is read of a Deployment, a Job or another object that makes pods. */
interface Workload extends WorkloadObject {
  readonly metadata?: WorkloadObject['metadata'] & { readonly namespace?: string; readonly name?: string }
}

interface List<T> {
  readonly items: readonly T[]
}

const KINDS: Readonly<Record<string, string>> = {
  Deployment: '/apis/apps/v1/deployments',
  ReplicaSet: '/apis/apps/v1/replicasets',
  StatefulSet: '/apis/apps/v1/statefulsets',
  DaemonSet: '/apis/apps/v1/daemonsets',
  Job: '/apis/batch/v1/jobs',
}
const DEADLINE_MS = 5000

/** A sentence about each workload of a name that lacks pods: a quota may forbid them, and then there is no pod with the reason. None while the API does not answer. */
export async function describeUnreadyWorkloads(
  deps: ClientDeps,
  { adminKubeconfig }: NodeLayout,
  wanted: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  await using group = new TaskGroup(signal)
  const [name = '', namespace] = wanted.split('/').toReversed()
  try {
    const client = await deps.openClient(adminKubeconfig, group)
    const list = async <T>(path: string, field: string) => {
      const fields = [`${field}.name=${name}`, ...(namespace === undefined ? [] : [`${field}.namespace=${namespace}`])]
      const query = { fieldSelector: fields.join(',') }
      return await client.send<List<T>>({ method: 'GET', timeoutMs: DEADLINE_MS, path, query }, group.signal)
    }
    const found = await Promise.all(
      Object.entries(KINDS).map(async ([kind, path]) =>
        (await list<Workload>(path, 'metadata')).items.map((object) => ({ kind, object })),
      ),
    )
    const workloads = found.flat()
    if (workloads.length === 0) return []
    const { items: events } = await list<Event>('/api/v1/events', 'involvedObject')
    return workloads.flatMap(({ kind, object }) => describeUnreadyWorkload(kind, object, events) ?? [])
  } catch (error) {
    if (signal.aborted) throw error
    return []
  }
}

/** What it lacks and why no pod can be made, where something says so; undefined when it lacks nothing. */
export function describeUnreadyWorkload(
  kind: string,
  { metadata: { namespace = 'default', name = '', ...metadata } = {}, spec, status = {} }: Workload,
  events: readonly Event[],
): string | undefined {
  const lack = computeUnreadyObject(kind, { metadata, ...(spec && { spec }), status })
  if (lack === undefined) return undefined
  const failure = status.conditions?.find(({ type, status: is }) => type === 'ReplicaFailure' && is === 'True')
  const refusal = events.findLast(
    ({ reason, involvedObject }) =>
      reason === 'FailedCreate' && involvedObject.kind === kind && involvedObject.namespace === namespace,
  )
  const why = failure?.message ?? refusal?.message
  return `${kind} ${namespace}/${name}: ${lack}${why === undefined ? '' : `: ${why}`}`
}
