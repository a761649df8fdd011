import type { Clock } from '../../async/clock.ts'
import type { KubeClient } from '../../kube-api/kube-client.ts'
import { KubeApiError } from '../../kube-api/kube-client.ts'
import type { AppliedObject, ObjectName } from './applied-object.ts'
import { computeApplyPatch } from './compute-apply-patch.ts'
import type { ObjectPaths } from './object-paths.ts'

// The one that kubectl uses, so that both can be used on the same object.
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const GONE_POLL_MS = 200

export interface ApplyDeps {
  readonly client: KubeClient
  readonly paths: ObjectPaths
  readonly clock: Clock
}

/** What was done for an object. */
export interface Applied {
  readonly name: ObjectName
  readonly outcome: 'created' | 'configured' | 'replaced' | 'unchanged'
}

/** Makes an object as it is wanted. A pod that cannot become so is ended and made anew, since most of a pod never changes. */
export async function applyObject(deps: ApplyDeps, object: AppliedObject, signal: AbortSignal): Promise<Applied> {
  const { client, paths } = deps
  const { namespace, name: plainName } = object.metadata
  const { collection, name } = await paths.find({ ...object, namespace, name: plainName }, signal)
  const path = `${collection}/${encodeURIComponent(plainName)}`
  const live = await getIfPresent(client, path, signal)
  if (live === undefined) return await create(deps, { collection, name }, object, signal)
  const before = live.metadata.annotations?.[LAST_APPLIED]
  const text = JSON.stringify(object)
  if (before === text) return { name, outcome: 'unchanged' }
  const patch = computeApplyPatch(before === undefined ? {} : (JSON.parse(before) as object), withLastApplied(object))
  if (patch.kind === 'patch') {
    try {
      const contentType = 'application/strategic-merge-patch+json'
      await client.send({ method: 'PATCH', path, body: patch.body, contentType }, signal)
      return { name, outcome: 'configured' }
    } catch (error) {
      if (!(error instanceof KubeApiError) || error.code !== 422 || object.kind !== 'Pod') throw error
    }
  } else if (object.kind !== 'Pod') {
    const body = withLastApplied(object)
    const { resourceVersion } = live.metadata
    await client.send(
      { method: 'PUT', path, body: { ...body, metadata: { ...body.metadata, resourceVersion } } },
      signal,
    )
    return { name, outcome: 'configured' }
  }
  await deleteAndWait(deps, path, signal)
  await create(deps, { collection, name }, object, signal)
  return { name, outcome: 'replaced' }
}

/** Ends an object that is wanted no more; is content when there is none. */
export async function deleteObject(deps: ApplyDeps, name: ObjectName, signal: AbortSignal): Promise<void> {
  const { collection } = await deps.paths.find(name, signal)
  try {
    await deps.client.send({ method: 'DELETE', path: `${collection}/${encodeURIComponent(name.name)}` }, signal)
  } catch (error) {
    if (!(error instanceof KubeApiError) || error.code !== 404) throw error
  }
}

async function create(
  { client }: ApplyDeps,
  { collection, name }: { readonly collection: string; readonly name: ObjectName },
  object: AppliedObject,
  signal: AbortSignal,
): Promise<Applied> {
  await client.send({ method: 'POST', path: collection, body: withLastApplied(object) }, signal)
  return { name, outcome: 'created' }
}

async function deleteAndWait({ client, clock }: ApplyDeps, path: string, signal: AbortSignal): Promise<void> {
  await client.send({ method: 'DELETE', path }, signal)
  while ((await getIfPresent(client, path, signal)) !== undefined) await clock.sleep(GONE_POLL_MS, signal)
}

async function getIfPresent(client: KubeClient, path: string, signal: AbortSignal): Promise<AppliedObject | undefined> {
  try {
    return await client.send<AppliedObject>({ method: 'GET', path }, signal)
  } catch (error) {
    if (error instanceof KubeApiError && error.code === 404) return undefined
    throw error
  }
}

function withLastApplied(object: AppliedObject): AppliedObject {
  const annotations = { ...object.metadata.annotations, [LAST_APPLIED]: JSON.stringify(object) }
  return { ...object, metadata: { ...object.metadata, annotations } }
}
