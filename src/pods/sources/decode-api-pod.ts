import { CONFIG_MIRROR_ANNOTATION, isPodUid } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { ObjectMeta } from '../../model/generated/core-v1.ts'
import { decodeObject } from '../../model/schema/decode-object.ts'
import { defaultPod } from '../../model/schema/default-pod.ts'
import type { ManifestPod } from '../../model/schema/default-pod.ts'
import { dnsLabel, dnsSubdomain } from '../../model/schema/validation/name-rules.ts'
import type { DocumentValue } from '../../base/document/document-value.ts'
import { isRecord } from '../../base/document/is-record.ts'

/** A pod of the API, and what of it this agent does not know. */
export interface DecodedApiPod {
  readonly pod: Pod
  readonly unknownFields: readonly string[]
}

/** An object of the API that cannot be used as a pod, with the identity it has as far as that can be read. */
export class ApiPodError extends Error {
  override readonly name = 'ApiPodError'
  readonly identity: ApiPodIdentity

  constructor(identity: ApiPodIdentity, problems: readonly string[]) {
    const shown = problems.slice(0, MAX_SHOWN_PROBLEMS).join('; ')
    const others = problems.length > MAX_SHOWN_PROBLEMS ? `; and ${problems.length - MAX_SHOWN_PROBLEMS} more` : ''
    super(`Cannot use the pod "${identity.namespace}/${identity.name}" of the API: ${shown}${others}`)
    this.identity = identity
  }
}

const MAX_SHOWN_PROBLEMS = 5

export interface ApiPodIdentity {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/**
 * A pod as the API has it. The API has checked it by its own rules, which may be newer than ours: here it only has to be of the right types,
 * and its names must be harmless in paths. Throws ApiPodError.
 */
export function decodeApiPod(object: unknown): DecodedApiPod {
  const identity = readIdentity(object)
  const decoded = decodeObject(withoutManagedFields(object as DocumentValue), 'Pod')
  if (decoded.errors.length > 0) {
    throw new ApiPodError(
      identity,
      decoded.errors.map(({ path, rule }) => `${path.toString()}: ${rule}`),
    )
  }
  const { metadata = {}, spec = { containers: [] }, status } = decoded.value as Partial<ManifestPod>
  const { spec: filled } = defaultPod({ metadata, spec, status })
  const problems = findUnsafeNames(identity, filled)
  if (problems.length > 0 || !isPodUid(identity.uid)) throw new ApiPodError(identity, problems)
  return {
    pod: { metadata: { ...metadata, ...identity, uid: identity.uid }, spec: filled, status },
    unknownFields: decoded.warnings.filter(({ isUnknown }) => isUnknown === true).map(({ path }) => path.toString()),
  }
}

/**
 * The same for an object that cannot be decoded, with what of it can: who it is, whether it is to go, its status. Throws ApiPodError when not
 * even its names can be used.
 */
export function decodeAnyApiPod(object: unknown): DecodedApiPod {
  try {
    return decodeApiPod(object)
  } catch (error) {
    if (!(error instanceof ApiPodError)) throw error
    const { identity, message } = error
    const { uid } = identity
    if (!isPodUid(uid) || findUnsafeNames(identity, { containers: [] }).length > 0) throw error
    const { metadata, status } = object as { readonly metadata: DocumentValue; readonly status?: DocumentValue }
    const known = decodeObject(withoutManagedFields({ metadata, status: status ?? null }), 'Pod')
    const isKnown = (field: string) => known.errors.every(({ path }) => path.segments[0] !== field)
    const { metadata: meta, status: reported } = known.value as Partial<ManifestPod>
    const pod = {
      metadata: { ...(isKnown('metadata') ? meta : deletionOf(metadata)), ...identity, uid },
      spec: { containers: [] },
      status: isKnown('status') ? reported : undefined,
      unreadable: message,
    }
    return { pod, unknownFields: [] }
  }
}

/** What counts of metadata of which something cannot be read. */
function deletionOf(metadata: DocumentValue): ObjectMeta {
  const fields = ['resourceVersion', 'deletionTimestamp', 'deletionGracePeriodSeconds'].map((name) => [
    name,
    isRecord(metadata) ? (metadata[name] ?? null) : null,
  ])
  return decodeObject(Object.fromEntries(fields) as DocumentValue, 'ObjectMeta').value
}

/** True for a pod that only shows what a static pod of a node is at. */
export function isMirrorPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined
}

/** What can be read of who the object is; empty where nothing can. */
export function readIdentity(object: unknown): ApiPodIdentity {
  const metadata = isRecord(object) ? object['metadata'] : undefined
  const text = (key: string) => {
    const value = isRecord(metadata) ? metadata[key] : undefined
    return typeof value === 'string' ? value : ''
  }
  return { namespace: text('namespace'), name: text('name'), uid: text('uid') }
}

/** Who wrote which field is long, and never read here. */
function withoutManagedFields(object: DocumentValue): DocumentValue {
  if (!isRecord(object) || !isRecord(object['metadata'])) return object
  const { managedFields: _, ...metadata } = object['metadata']
  return { ...object, metadata }
}

function findUnsafeNames({ namespace, name, uid }: ApiPodIdentity, spec: ManifestPod['spec']): readonly string[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])]
  const checks: readonly (readonly [path: string, problem: string | undefined])[] = [
    ['metadata.namespace', dnsLabel(namespace)],
    ['metadata.name', dnsSubdomain(name)],
    ['metadata.uid', isPodUid(uid) ? undefined : 'must be 1 to 63 letters, digits and dashes'],
    ...containers.map((each) => [`the container "${each.name}"`, dnsLabel(each.name)] as const),
    ...(spec.volumes ?? []).map((each) => [`the volume "${each.name}"`, dnsLabel(each.name)] as const),
  ]
  return checks.flatMap(([path, problem]) => (problem === undefined ? [] : [`${path}: ${problem}`]))
}
