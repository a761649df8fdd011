import type { ManagedFieldsEntry } from '../../model/generated/core-v1.ts'
import type { Resource } from '../kinds/resource.ts'
import type { ApiObject } from '../store/api-object.ts'
import { ItemProblem, normalizeElement } from './list-items.ts'
import { decodeOwners, encodeOwners } from './managed-fields.ts'
import type { FieldOwners } from './managed-fields.ts'
import { emptyObject, toDocument, trackedPathOf } from './tracked-path.ts'
import { trackUpdate } from './track-fields.ts'
import type { FieldWriter } from './track-fields.ts'

type Entries = readonly ManagedFieldsEntry[] | undefined

/** metadata.managedFields of an object that a request makes; the object is as it was sent, with its defaults. */
export function fieldsOfNew(resource: Resource, sent: ApiObject, writer: FieldWriter): Entries {
  const owners = baseOwners(sent.metadata.managedFields, undefined)
  const objects = { before: emptyObject(resource), after: toDocument(sent) }
  return unlessMalformed(
    () => encodeOwners(trackUpdate(trackedPathOf(resource, ''), owners, objects, writer)),
    undefined,
  )
}

/** Those of an object that a request changes. One that has none gets none, until it is applied for the first time. */
export function fieldsOfChanged(
  resource: Resource,
  subresource: string,
  { sent, before }: { readonly sent: ApiObject; readonly before: ApiObject },
  writer: FieldWriter,
): Entries {
  // Only who writes the object itself may say who owns it.
  const asked = subresource === '' ? sent.metadata.managedFields : undefined
  const owners = baseOwners(asked, before.metadata.managedFields)
  if (owners.size === 0) return undefined
  const objects = { before: toDocument(before), after: toDocument(sent) }
  return unlessMalformed(
    () => encodeOwners(trackUpdate(trackedPathOf(resource, subresource), owners, objects, writer)),
    before.metadata.managedFields,
  )
}

/** Items without a key of their own are for the rules of the kind to refuse; they have no manager. */
function unlessMalformed(track: () => Entries, otherwise: Entries): Entries {
  try {
    return track()
  } catch (error) {
    if (error instanceof ItemProblem) return otherwise
    throw error
  }
}

/** The owners that a request says there are, else those of the live object; an empty list, or an empty entry, says that there are none. */
function baseOwners(asked: Entries, live: Entries): FieldOwners {
  if (asked !== undefined && isReset(asked)) return new Map()
  const said = asked && decodeOwners(asked, normalizeElement)
  return said !== undefined && said.size > 0 ? said : liveOwners(live)
}

function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  const [first] = entries
  return first === undefined || (entries.length === 1 && Object.keys(first).length === 0)
}

/** The owners of an object that is there. */
export function liveOwners(entries: Entries): FieldOwners {
  return decodeOwners(entries ?? []) ?? new Map()
}

export function withManagedFields(object: ApiObject, managedFields: Entries): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata: { ...metadata, ...(managedFields && { managedFields }) } }
}
