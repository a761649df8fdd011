import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { Pod } from '../../model/generated/core-v1.ts'
import { CONFIG_HASH_ANNOTATION, CONFIG_MIRROR_ANNOTATION, CONFIG_SOURCE_ANNOTATION } from '../../model/pod/pod.ts'
import { findApiReferences } from '../../model/schema/static-pod-references.ts'
import { ApiError, forbidden } from '../api-error.ts'
import type { RequestUser, Resource } from '../kinds/resource.ts'
import type { ApiObject } from '../store/api-object.ts'
import { findNeededObjects } from './needed-objects.ts'
import { ADMIN_GROUP, nodeNameOf } from './user-names.ts'

/** The pods of the agent; read where no client of the API can answer in its place. */
export type StaticPods = (signal: AbortSignal) => Promise<readonly Pod[]>

export interface MirrorPodDeps {
  /** Undefined: mirror pods refer to nothing, as in a cluster. */
  readonly staticPods: StaticPods | undefined
  readonly clock: Clock
}

const ANSWER_MS = 5000

/**
 * Rejects a mirror pod of a node that refers to objects of the API, unless the agent has the static pod for it. A pod that is bound to a
 * node lets that node read what the pod refers to, so a stolen credential of the node would otherwise open every secret. Throws an ApiError.
 */
export async function admitMirrorPod(
  user: RequestUser,
  resource: Pick<Resource, 'storage'>,
  object: ApiObject,
  deps: MirrorPodDeps,
  signal: AbortSignal,
): Promise<void> {
  const node = nodeNameOf(user)
  if (node === undefined || user.groups.includes(ADMIN_GROUP) || resource.storage !== 'pods') return
  const pod = object as Pod
  const [reference] = pod.spec === undefined ? [] : findApiReferences(pod.spec)
  if (reference === undefined) return
  const fault = `may not create a mirror pod with "${reference.path.toString()}"`
  const reject = (why: string) =>
    forbidden({ group: '', resource: 'pods', name: object.metadata.name ?? '' }, `node "${node}" ${fault}${why}`)
  if (deps.staticPods === undefined) throw reject('')
  const known = (await askAgent(deps, deps.staticPods, signal)).find((each) => isStaticPodOf(each, pod))
  if (known === undefined) throw reject(': its agent has no such static pod')
  if (!refersToNoMore(pod, known)) throw reject(': its static pod refers to less')
}

async function askAgent(
  { clock }: MirrorPodDeps,
  staticPods: StaticPods,
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  try {
    return await withDeadline({ clock, ms: ANSWER_MS, what: 'the answer of the agent' }, (s) => staticPods(s), signal)
  } catch (error) {
    const message = `the agent does not say which static pods it has: ${errorMessage(error)}`
    throw new ApiError({ code: 503, reason: 'ServiceUnavailable', message }, { cause: error })
  }
}

function isStaticPodOf({ metadata: known }: Pod, { metadata: mirror }: Pod): boolean {
  const { [CONFIG_SOURCE_ANNOTATION]: source = 'api', [CONFIG_HASH_ANNOTATION]: hash } = known?.annotations ?? {}
  const isNamedSo = known?.namespace === mirror?.namespace && known?.name === mirror?.name
  return source !== 'api' && isNamedSo && hash !== undefined && hash === mirror?.annotations?.[CONFIG_MIRROR_ANNOTATION]
}

/** Whether everything that a mirror pod would open is needed by its static pod too. */
function refersToNoMore(mirror: Pod, known: Pod): boolean {
  const [wanted, needed] = [findNeededObjects(mirror), findNeededObjects(known)]
  return (
    (mirror.spec?.serviceAccountName ?? '') === (known.spec?.serviceAccountName ?? '') &&
    wanted.secrets.isSubsetOf(needed.secrets) &&
    wanted.configMaps.isSubsetOf(needed.configMaps) &&
    wanted.claims.isSubsetOf(needed.claims) &&
    wanted.resourceClaims.isSubsetOf(needed.resourceClaims)
  )
}
