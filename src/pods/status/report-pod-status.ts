import { KubeApiError, KubeUnreachableError, isNotFound } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { mirrorHash } from './known-pod-objects.ts'
import type { KnownPodObjects } from './known-pod-objects.ts'
import { computeMergedStatus } from './compute-merged-status.ts'
import { isTerminalPhase } from './compute-phase.ts'
import { computeStatusPatch, hasAll } from './compute-status-patch.ts'
import type { StatusPatch } from './compute-status-patch.ts'
import type { PodReport } from './pod-report.ts'
import { formatExactJson } from '../../base/document/exact-json.ts'

export interface ReportDeps {
  readonly client: Pick<KubeClient, 'send'>
  readonly objects: KnownPodObjects
  /** An answer to a pod; throws when it is none. */
  readonly decode: (object: unknown) => Pod
}

// While the API is in trouble one request at a time finds out whether it still is, and all others wait for it.
const REQUEST_MS = 15_000

/** What was reported of one pod so far. */
export interface ReportMemory {
  /** Of the object that was reported to: a static pod may have one mirror after another. */
  uid: PodUid | undefined
  /** The status that the API last took, as text. */
  reported: string | undefined
  /** The parts of it that the API does not keep as they were sent, and the version of the object at which that was seen. */
  unkept: { readonly patch: string; readonly version: string | undefined } | undefined
  /** The version of the object whose end was asked for. */
  endAsked: string | undefined
}

export function createReportMemory(): ReportMemory {
  return { uid: undefined, reported: undefined, unkept: undefined, endAsked: undefined }
}

/**
 * What came of it. Repair: the API holds something else than was reported, and nothing was sent. Stale: the object is another than was known,
 * and is known now. Missing: the API does not have it, although its watch says so.
 */
export type ReportResult = 'nothing' | 'reported' | 'repair' | 'stale' | 'missing'

/**
 * Reports what is new of a pod to the API, and asks for the end of its object once the pod has ended and that is reported. The object that is meant is named by
 * its UID: one that took over the name is never touched. Fails as the client does.
 */
export async function reportPodStatus(
  deps: ReportDeps,
  {
    report,
    memory,
    mayRepair,
  }: { readonly report: PodReport; readonly memory: ReportMemory; readonly mayRepair: boolean },
  signal: AbortSignal,
): Promise<ReportResult> {
  const object = deps.objects.of(report.pod)
  if (object === undefined) return 'nothing'
  if (memory.uid !== object.metadata.uid) Object.assign(memory, createReportMemory(), { uid: object.metadata.uid })
  const status = computeMergedStatus(object.status ?? {}, report)
  const patch = computeStatusPatch(object.status ?? {}, status)
  const text = formatExactJson(status)
  try {
    if (patch === undefined || isUnkept(memory, patch, object)) {
      memory.reported = text
      return (await endObject(deps, { object, report, memory }, signal)) ? 'reported' : 'nothing'
    }
    if (text === memory.reported && !mayRepair) return 'repair'
    const answer = deps.decode(await deps.client.send(patchRequest(object, patch), signal))
    deps.objects.answer(answer)
    const left = computeStatusPatch(answer.status ?? {}, computeMergedStatus(answer.status ?? {}, report))
    // A write that was not seen yet, for example the last one of an agent that was killed, changed what this patch left alone.
    if (left !== undefined && !hasAll(patch, left)) return 'stale'
    memory.reported = text
    noteUnkept(memory, answer, left)
    await endObject(deps, { object: answer, report, memory }, signal)
    return 'reported'
  } catch (error) {
    if (isNotFound(error)) return 'missing'
    if (error instanceof KubeApiError && error.code === 409) return await refresh(deps, object, signal)
    throw error
  }
}

function patchRequest({ metadata }: Pod, status: StatusPatch) {
  const { uid, resourceVersion } = metadata
  // A phase is only changed of the very object that was read: another client may have ended the pod.
  const guard = status['phase'] === undefined ? { uid } : { uid, resourceVersion }
  return {
    method: 'PATCH',
    path: `${podPath(metadata)}/status`,
    contentType: 'application/strategic-merge-patch+json',
    body: { metadata: guard, status },
    timeoutMs: REQUEST_MS,
  } as const
}

function podPath({ namespace, name }: Pod['metadata']): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`
}

/** True when the API was asked to remove the object. It is asked once for each version: finalizers may keep the object for long. */
async function endObject(
  { client }: ReportDeps,
  { object, report, memory }: { readonly object: Pod; readonly report: PodReport; readonly memory: ReportMemory },
  signal: AbortSignal,
): Promise<boolean> {
  const { uid, deletionTimestamp, resourceVersion = '' } = object.metadata
  const isDue = deletionTimestamp !== undefined && isTerminalPhase(object.status?.phase) && report.isFinished
  if (!isDue || mirrorHash(object) !== undefined || memory.endAsked === resourceVersion) return false
  try {
    const answer = await client.send<{ readonly kind?: string } | undefined>(
      {
        method: 'DELETE',
        path: podPath(object.metadata),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } },
        timeoutMs: REQUEST_MS,
      },
      signal,
    )
    // A proxy in between may answer anything; to believe it would mean never to ask again.
    if (answer?.kind !== 'Pod' && answer?.kind !== 'Status')
      throw new KubeUnreachableError(`Cannot DELETE "${podPath(object.metadata)}": the answer is no answer of an API`)
  } catch (error) {
    // Gone already, or another pod has its name by now.
    if (!(error instanceof KubeApiError) || (error.code !== 404 && error.code !== 409)) throw error
  }
  memory.endAsked = resourceVersion
  return true
}

/** What was sent and is still held otherwise is the API's way to write it; to report it again would not help. */
function noteUnkept(memory: ReportMemory, { metadata }: Pod, left: StatusPatch | undefined): void {
  memory.unkept = left === undefined ? undefined : { patch: formatExactJson(left), version: metadata.resourceVersion }
}

function isUnkept({ unkept }: ReportMemory, patch: StatusPatch, { metadata }: Pod): boolean {
  return unkept !== undefined && unkept.version === metadata.resourceVersion && unkept.patch === formatExactJson(patch)
}

async function refresh(
  { client, objects, decode }: ReportDeps,
  { metadata }: Pod,
  signal: AbortSignal,
): Promise<ReportResult> {
  try {
    const current = decode(await client.send({ method: 'GET', path: podPath(metadata), timeoutMs: REQUEST_MS }, signal))
    if (current.metadata.uid !== metadata.uid) return 'missing'
    objects.answer(current)
    return 'stale'
  } catch (error) {
    if (isNotFound(error)) return 'missing'
    throw error
  }
}
