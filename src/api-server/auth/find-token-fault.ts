import type { Pod } from '../../model/generated/core-v1.ts'
import type { RequestUser } from '../kinds/resource.ts'
import type { ClaimedObject } from './json-web-token.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { ADMIN_GROUP, nodeNameOf } from './user-names.ts'

/** Why a user may not have a token as it asks for one; undefined when it may. Only nodes are bound to what their pods need. */
export function findTokenFault(
  objects: ObjectReader,
  user: RequestUser,
  asked: { readonly namespace: string; readonly audiences: readonly string[]; readonly pod: ClaimedObject | undefined },
): string | undefined {
  const node = nodeNameOf(user)
  if (node === undefined || user.groups.includes(ADMIN_GROUP)) return undefined
  if (asked.pod === undefined) return 'a node may only ask for tokens that are bound to a pod'
  const { name } = asked.pod
  const pod = objects.get({ resource: 'pods', namespace: asked.namespace, name })
  if (pod?.spec?.nodeName !== node) return `pod "${name}" is not bound to node "${node}"`
  if (asked.audiences.length > 1) return 'a node may ask for one audience at most'
  const [audience = ''] = asked.audiences
  if (audiencesOf(pod).includes(audience) || driverAudiences(objects, pod).includes(audience)) return undefined
  return `pod "${name}" has no use for a token with the audience "${audience}"`
}

/** Empty: that of the API. */
function audiencesOf(pod: Pod): readonly string[] {
  const projections = (pod.spec?.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? [])
  return projections.flatMap(({ serviceAccountToken }) =>
    serviceAccountToken ? [serviceAccountToken.audience ?? ''] : [],
  )
}

/** What the drivers of its volumes want tokens for; any driver may be behind a claim, so which one it is does not matter. */
function driverAudiences(objects: ObjectReader, pod: Pod): readonly string[] {
  const hasClaims = (pod.spec?.volumes ?? []).some((each) => each.persistentVolumeClaim ?? each.ephemeral)
  const names = new Set((pod.spec?.volumes ?? []).flatMap(({ csi }) => (csi ? [csi.driver] : [])))
  if (!hasClaims && names.size === 0) return []
  const drivers = objects
    .list('csidrivers.storage.k8s.io')
    .filter(({ metadata }) => hasClaims || names.has(metadata.name ?? ''))
  return drivers.flatMap(({ spec }) => (spec.tokenRequests ?? []).map(({ audience }) => audience))
}
