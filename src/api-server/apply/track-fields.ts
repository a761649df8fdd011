import type { DocumentObject, DocumentValue } from '../../base/document/document-value.ts'
import { sameValue } from '../../base/document/same-value.ts'
import { appliedFields } from './applied-fields.ts'
import { compareValues } from './compare-values.ts'
import type { Comparison } from './compare-values.ts'
import { conflictsWith, FieldConflictError } from './field-conflicts.ts'
import { FieldSet } from './field-set.ts'
import { capUpdaters, identityOf } from './managed-fields.ts'
import type { FieldOwner, FieldOwners } from './managed-fields.ts'
import type { MergeSchema } from './merge-schema.ts'
import { mergeValues } from './merge-values.ts'
import { removeFields } from './remove-fields.ts'

/** One version of a kind: its schema, and an object of it as it is written in that version, with all that is never absent. */
export interface KindVersion {
  readonly schema: MergeSchema
  readonly toVersion: (object: DocumentObject) => DocumentObject
}

/** What is written to: the versions that its fields are known in, and which of its fields cannot be changed this way. */
export interface TrackedPath {
  readonly apiVersion: string
  /** Empty: the object itself. */
  readonly subresource: string
  /** By API version. Entries of a version that is no longer served are dropped. */
  readonly versions: ReadonlyMap<string, KindVersion>
  /** Takes away the fields that a write on this path does not change whatever it says. */
  readonly filter: (fields: FieldSet) => FieldSet
}

/** Who writes, and when. */
export interface FieldWriter {
  readonly manager: string
  /** In whole seconds, as the API writes it. */
  readonly now: string
}

/** Never owned by a manager: what an object is, and what the server says of it. */
const UNOWNED = FieldSet.of(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
)

/** The owner that the fields of an object get that had none before its first apply. */
export const BEFORE_FIRST_APPLY = 'before-first-apply'

/** The owners after a write that is no apply: a field belongs to the one who changes it. Both objects are as they are stored. */
export function trackUpdate(
  path: TrackedPath,
  owners: FieldOwners,
  { before, after }: { readonly before: DocumentObject; readonly after: DocumentObject },
  writer: FieldWriter,
): FieldOwners {
  const compareIn = comparer(path, before, after)
  const result = new Map(takeChanged(owners, compareIn, undefined, true))
  const own = compareIn(path.apiVersion)
  if (own === undefined) return result
  const taken = path.filter(own.added.union(own.modified)).difference(UNOWNED)
  if (taken.isEmpty) return capUpdaters(result)
  const { apiVersion, subresource } = path
  const owner = { manager: writer.manager, operation: 'Update', apiVersion, subresource } as const
  const identity = identityOf(owner)
  const fields = taken.union(result.get(identity)?.fields ?? new FieldSet())
  result.set(identity, { ...owner, time: writer.now, fields })
  return capUpdaters(result)
}

/** What comes of an apply: the owners, and the object in the version of the request, or undefined when it stays as it is. */
export interface Applied {
  readonly object: DocumentObject | undefined
  readonly owners: FieldOwners
}

/** Merges what is applied into the live object. Throws FieldConflictError unless it is forced. */
export function trackApply(
  path: TrackedPath,
  owners: FieldOwners,
  { live, applied }: { readonly live: DocumentObject; readonly applied: DocumentObject },
  { manager, now, isForced }: FieldWriter & { readonly isForced: boolean },
): Applied {
  const version = path.versions.get(path.apiVersion)
  if (version === undefined) throw new Error(`there is no version ${path.apiVersion}`)
  const { schema } = version
  const liveValue = version.toVersion(live)
  const merged = (mergeValues(liveValue, applied, schema) ?? {}) as DocumentObject
  const { apiVersion, subresource } = path
  const self: Omit<FieldOwner, 'fields'> = { manager, operation: 'Apply', apiVersion, subresource, time: undefined }
  const identity = identityOf(self)
  const last = owners.get(identity)
  // Pruning asks for everything that the config has; what no manager may own is taken away at the end.
  const fields = path.filter(appliedFields(applied, schema))
  const others = new Map(owners)
  others.set(identity, { ...self, fields })
  const pruned = prune(path, merged, others, last)
  const compareIn = comparer(path, liveValue, pruned, path.apiVersion)
  const result = new Map(takeChanged(others, compareIn, identity, isForced))
  const isSame = sameValue(liveValue, pruned)
  const own = fields.difference(UNOWNED)
  if (own.isEmpty) result.delete(identity)
  else result.set(identity, { ...self, fields: own, time: isSame ? last?.time : now })
  return { object: isSame ? undefined : pruned, owners: result }
}

type CompareIn = (apiVersion: string) => Comparison | undefined

/** Compares two objects in any version, each once. Those of a path with no such version are not compared. */
function comparer(path: TrackedPath, before: DocumentObject, after: DocumentObject, from?: string): CompareIn {
  const known = new Map<string, Comparison | undefined>()
  return (apiVersion) =>
    known.getOrInsertComputed(apiVersion, () => {
      const version = path.versions.get(apiVersion)
      if (version === undefined) return undefined
      const convert = (object: DocumentObject) => (from === apiVersion ? object : version.toVersion(object))
      const { added, removed, modified } = compareValues(convert(before), convert(after), version.schema)
      return { added: path.filter(added), removed: path.filter(removed), modified: path.filter(modified) }
    })
}

/** The owners without what is gone and, if forced, without what was changed; otherwise that is a conflict. */
function takeChanged(
  owners: FieldOwners,
  compareIn: CompareIn,
  self: string | undefined,
  isForced: boolean,
): FieldOwners {
  const result = new Map<string, FieldOwner>()
  const conflicts = []
  for (const [identity, owner] of [...owners].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const comparison = compareIn(owner.apiVersion)
    if (comparison === undefined) continue
    if (identity === self) {
      result.set(identity, owner)
      continue
    }
    const changed = comparison.modified.union(comparison.added)
    conflicts.push(...conflictsWith(owner, owner.fields.intersection(changed)))
    const fields = owner.fields.difference(changed).difference(comparison.removed)
    if (!fields.isEmpty) result.set(identity, { ...owner, fields })
  }
  if (conflicts.length > 0 && !isForced) throw new FieldConflictError(conflicts)
  return result
}

/** Removes what the manager applied before and does not any more, unless another owns it. */
function prune(
  path: TrackedPath,
  merged: DocumentObject,
  owners: FieldOwners,
  last: FieldOwner | undefined,
): DocumentObject {
  const version = last && path.versions.get(last.apiVersion)
  if (last === undefined || version === undefined) return merged
  // All versions of a kind have the same fields under the same names, but for events, which no client applies in two versions.
  const { schema } = version
  const named = (fields: FieldSet) => fields.withNamedFields(schema)
  const fieldsOf = (value: DocumentValue) => named(appliedFields(value, schema))
  const everything = fieldsOf(merged)
  const first = removeFields(merged, named(last.fields), schema)
  const owned = [...owners.values()].reduce((all, { fields }) => all.union(fields), new FieldSet())
  const kept = removeFields(merged, everything.difference(fieldsOf(first).union(named(owned))), schema)
  // A field that this manager never applied stays, even inside a removed one.
  return (removeFields(merged, everything.difference(fieldsOf(kept)).intersection(named(last.fields)), schema) ??
    {}) as DocumentObject
}
