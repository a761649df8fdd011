import type { Clock } from '../../base/async/clock.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { KubeApiError, isNotFound } from '../../protocols/kube-api/kube-client.ts'
import type { AppliedObject } from './applied-object.ts'
import { computeApplyPatch } from './compute-apply-patch.ts'
import type { ApplyPatch } from './compute-apply-patch.ts'
import { isWithin } from './is-within.ts'
import type { ObjectPlace } from './object-paths.ts'
import { withoutReplicas } from './scaled-objects.ts'
import { formatExactJson, parseExactJson } from '../../base/document/exact-json.ts'

// The one that kubectl uses, so that both can be used on the same object.
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const GONE_POLL_MS = 200
const UNSUPPORTED_MEDIA_TYPE = 415
// As kubectl: a field that the API does not know is a mistake, not something to leave out.
const STRICT = { fieldValidation: 'Strict' }
// As kubectl too: a Job by itself would leave its pods.
const WITH_DEPENDENTS = { propagationPolicy: 'Background' }

export interface ApplyDeps {
  readonly client: KubeClient
  readonly clock: Clock
}

/** What was done for an object. */
export type Outcome = 'created' | 'configured' | 'repaired' | 'replaced' | 'unchanged'

/** Makes an object as it is wanted, but for the number of replicas where an autoscaler sets it. A pod that cannot become so is deleted and created again, since most of a pod never changes. */
export async function sendAppliedObject(
  deps: ApplyDeps,
  {
    object,
    place,
    isScaled,
  }: { readonly object: AppliedObject; readonly place: ObjectPlace; readonly isScaled: boolean },
  signal: AbortSignal,
): Promise<Outcome> {
  const { client } = deps
  const path = pathOf(place)
  const live = await getIfPresent(client, path, signal)
  if (live === undefined) {
    await create(deps, place, object, signal)
    return 'created'
  }
  const before = live.metadata.annotations?.[LAST_APPLIED]
  const text = formatExactJson(object)
  // What others have changed in it counts too.
  const isDrift = before === text
  if (isDrift && isWithin(isScaled ? withoutReplicas(object) : object, live)) return 'unchanged'
  const { kind, body } = computeApplyPatch(
    before === undefined ? {} : (parseExactJson(before) as object),
    withLastApplied(object),
  )
  const patch = { kind, body: isScaled ? withoutReplicas(body) : body }
  try {
    const after = await sendPatch(client, path, patch, signal)
    // The API only writes it in another form.
    if (after.metadata.resourceVersion === live.metadata.resourceVersion) return 'unchanged'
    return isDrift ? 'repaired' : 'configured'
  } catch (error) {
    if (!(error instanceof KubeApiError) || error.code !== 422 || object.kind !== 'Pod') throw error
  }
  await deleteAndWait(deps, path, signal)
  await create(deps, place, object, signal)
  return 'replaced'
}

/** Custom resources have no keys of their lists that all clients know, so the API takes no strategic patch of them. */
async function sendPatch(
  client: KubeClient,
  path: string,
  { kind, body }: ApplyPatch,
  signal: AbortSignal,
): Promise<AppliedObject> {
  const send = async (form: ApplyPatch['kind']) => {
    const contentType = `application/${form === 'merge' ? 'merge-patch' : 'strategic-merge-patch'}+json` as const
    return await client.send<AppliedObject>({ method: 'PATCH', path, query: STRICT, body, contentType }, signal)
  }
  try {
    return await send(kind)
  } catch (error) {
    if (!(error instanceof KubeApiError) || error.code !== UNSUPPORTED_MEDIA_TYPE) throw error
    return await send('merge')
  }
}

/** Ends an object that is wanted no more; is content when there is none. */
export async function deleteApplied({ client }: ApplyDeps, place: ObjectPlace, signal: AbortSignal): Promise<void> {
  try {
    await client.send({ method: 'DELETE', path: pathOf(place), query: WITH_DEPENDENTS }, signal)
  } catch (error) {
    if (!(error instanceof KubeApiError) || error.code !== 404) throw error
  }
}

function pathOf({ collection, name }: ObjectPlace): string {
  return `${collection}/${encodeURIComponent(name.name)}`
}

async function create(
  { client }: ApplyDeps,
  { collection }: ObjectPlace,
  object: AppliedObject,
  signal: AbortSignal,
): Promise<void> {
  await client.send({ method: 'POST', path: collection, query: STRICT, body: withLastApplied(object) }, signal)
}

async function deleteAndWait({ client, clock }: ApplyDeps, path: string, signal: AbortSignal): Promise<void> {
  await client.send({ method: 'DELETE', path, query: WITH_DEPENDENTS }, signal)
  while ((await getIfPresent(client, path, signal)) !== undefined) await clock.sleep(GONE_POLL_MS, signal)
}

async function getIfPresent(client: KubeClient, path: string, signal: AbortSignal): Promise<AppliedObject | undefined> {
  try {
    return await client.send<AppliedObject>({ method: 'GET', path }, signal)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function withLastApplied(object: AppliedObject): AppliedObject {
  const annotations = { ...object.metadata.annotations, [LAST_APPLIED]: formatExactJson(object) }
  return { ...object, metadata: { ...object.metadata, annotations } }
}
