import type { DocumentObject, DocumentValue } from '../../base/document/document-value.ts'
import { formatExactJson, parseExactJson } from '../../base/document/exact-json.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { setKey } from '../../base/document/position-index.ts'
import type { ApiObject } from '../store/api-object.ts'
import { appliedFields } from './applied-fields.ts'
import { checkValue } from './check-value.ts'
import { compareValues } from './compare-values.ts'
import { FieldConflictError } from './field-conflicts.ts'
import type { FieldSet } from './field-set.ts'
import type { FieldOwners } from './managed-fields.ts'
import { trackApply } from './track-fields.ts'
import type { Applied, FieldWriter, TrackedPath } from './track-fields.ts'

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration'
// The only one that takes over what it applied from the client's side before.
const KUBECTL = 'kubectl'
const MAX_ANNOTATION_BYTES = 256 * 1024

/**
 * An apply that may follow applies from the client's side: to kubectl, fields that the last of them set and that still have its value are its own,
 * no matter who is noted as their owner.
 */
export function trackApplyAfterClient(
  path: TrackedPath,
  owners: FieldOwners,
  objects: { readonly live: DocumentObject; readonly applied: DocumentObject },
  writer: FieldWriter & { readonly isForced: boolean },
): Applied {
  try {
    return trackApply(path, owners, objects, writer)
  } catch (error) {
    if (writer.manager !== KUBECTL || !(error instanceof FieldConflictError)) throw error
    const own = fieldsOfLastApplied(path, objects.live)
    if (own === undefined) throw error
    const others = error.conflicts.filter((conflict) => !own.has(conflict.path))
    if (others.length > 0) throw new FieldConflictError(others)
    return trackApply(path, owners, objects, { ...writer, isForced: true })
  }
}

/** What the last apply from the client's side set and still is so; undefined when nothing is known of one. */
function fieldsOfLastApplied(path: TrackedPath, object: DocumentObject): FieldSet | undefined {
  const version = path.versions.get(path.apiVersion)
  const last = parse(annotationsOf(object)[ANNOTATION])
  if (version === undefined || last === undefined || last['apiVersion'] !== path.apiVersion) return undefined
  if (checkValue(last, version.schema).length > 0) return undefined
  const { added, modified, removed } = compareValues(last, version.toVersion(object), version.schema)
  return appliedFields(last, version.schema).difference(modified).difference(added).difference(removed)
}

function parse(text: DocumentValue | undefined): DocumentObject | undefined {
  if (typeof text !== 'string' || text === '') return undefined
  try {
    const value = parseExactJson(text)
    return isRecord(value) ? (value as DocumentObject) : undefined
  } catch {
    // What a client wrote there need not be JSON.
    return undefined
  }
}

function annotationsOf(object: DocumentObject): DocumentObject {
  const { annotations } = isRecord(object['metadata']) ? object['metadata'] : {}
  return isRecord(annotations) ? annotations : {}
}

/** Keeps the note of the client's last apply true after an apply by kubectl, for clients that go back to the old way. */
export function noteLastApplied(manager: string, object: ApiObject, applied: DocumentObject): ApiObject {
  const { annotations } = object.metadata
  if (manager !== KUBECTL || !annotations?.[ANNOTATION]) return object
  const { [ANNOTATION]: _, ...others } = annotations
  const noted = { ...others, [ANNOTATION]: `${formatSorted(withoutNote(applied))}\n` }
  const size = Object.entries(noted).reduce((sum, [key, value]) => sum + Buffer.byteLength(key + value), 0)
  return { ...object, metadata: { ...object.metadata, annotations: size > MAX_ANNOTATION_BYTES ? others : noted } }
}

function withoutNote(applied: DocumentObject): DocumentObject {
  const metadata = (applied['metadata'] ?? {}) as DocumentObject
  if (!isRecord(metadata['annotations'])) return applied
  const { [ANNOTATION]: _, ...annotations } = metadata['annotations']
  return { ...applied, metadata: { ...metadata, annotations } }
}

/** JSON with its keys in order, as kubectl writes the note. */
function formatSorted(value: DocumentValue): string {
  return formatExactJson(sorted(value))
}

function sorted(value: DocumentValue): DocumentValue {
  if (Array.isArray(value)) return (value as readonly DocumentValue[]).map(sorted)
  if (!isRecord(value)) return value
  const result = {}
  for (const key of Object.keys(value).toSorted()) setKey(result, key, sorted(value[key] ?? null))
  return result
}
