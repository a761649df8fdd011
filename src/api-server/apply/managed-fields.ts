import type { ManagedFieldsEntry } from '../../model/generated/core-v1.ts'
import { sameValue } from '../../base/document/same-value.ts'
import { FieldSet } from './field-set.ts'

type Operation = 'Apply' | 'Update'

/** Who owns which fields of an object, by one way of writing. */
export interface FieldOwner {
  readonly manager: string
  readonly operation: Operation
  /** The version that the fields are expressed in. */
  readonly apiVersion: string
  /** Empty: the object itself. */
  readonly subresource: string
  /** When its fields changed last, in whole seconds. */
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** The owners of an object by what makes them different. */
export type FieldOwners = ReadonlyMap<string, FieldOwner>

/**
 * What makes an owner different from others, also the order of owners in texts. Who applies stays the same in another version; who updates does not.
 */
export function identityOf(owner: Pick<FieldOwner, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string {
  const { manager, operation, apiVersion, subresource } = owner
  return JSON.stringify({
    manager,
    operation,
    ...(operation === 'Update' && { apiVersion }),
    ...(subresource !== '' && { subresource }),
  })
}

/** Reads metadata.managedFields; undefined when an entry is none. Those that a client wrote may be written in another way. */
export function decodeOwners(
  entries: readonly ManagedFieldsEntry[],
  toElement?: (text: string) => string,
): FieldOwners | undefined {
  const owners = new Map<string, FieldOwner>()
  for (const { manager = '', operation, apiVersion = '', subresource = '', time, fieldsType, fieldsV1 } of entries) {
    if ((operation !== 'Apply' && operation !== 'Update') || apiVersion === '' || fieldsType !== 'FieldsV1')
      return undefined
    const fields = FieldSet.fromJson(fieldsV1, toElement)
    const owner: FieldOwner = { manager, operation, apiVersion, subresource, time, fields }
    owners.set(identityOf(owner), owner)
  }
  return owners
}

/** Owners as metadata.managedFields; those without fields are none. */
export function encodeOwners(owners: FieldOwners): readonly ManagedFieldsEntry[] | undefined {
  const entries = [...owners.values()].filter(({ fields }) => !fields.isEmpty)
  if (entries.length === 0) return undefined
  return entries.toSorted(compareOwners).map(({ manager, operation, apiVersion, subresource, time, fields }) => ({
    ...(manager !== '' && { manager }),
    operation,
    apiVersion,
    ...(time !== undefined && { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: fields.toJson(),
    ...(subresource !== '' && { subresource }),
  }))
}

function compareOwners(a: FieldOwner, b: FieldOwner): number {
  return (
    compareTexts(a.operation, b.operation) ||
    secondsOf(a) - secondsOf(b) ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  )
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function secondsOf({ time }: FieldOwner): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000)
}

/** Whether two lists of entries differ at most in their times. */
export function sameOwners(
  a: readonly ManagedFieldsEntry[] | undefined,
  b: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  const withoutTime = (entries: readonly ManagedFieldsEntry[] = []) =>
    entries.map((entry) => ({ ...entry, time: undefined }))
  return sameValue(withoutTime(a), withoutTime(b))
}

const MAX_UPDATERS = 10
const OLD_UPDATES = 'ancient-changes'

/** At most ten who update: the oldest of a version become one. Those who apply are not counted. */
export function capUpdaters(owners: FieldOwners): FieldOwners {
  const updaters = [...owners].filter(([, { operation }]) => operation === 'Update')
  let count = updaters.length
  if (count <= MAX_UPDATERS) return owners
  const result = new Map(owners)
  const oldest = updaters.toSorted(([a, left], [b, right]) => secondsOf(left) - secondsOf(right) || compareTexts(a, b))
  const firsts = new Map<string, string>()
  for (const [identity, owner] of oldest) {
    if (count <= MAX_UPDATERS) break
    const { apiVersion } = owner
    const first = firsts.get(apiVersion)
    if (first === undefined) {
      firsts.set(apiVersion, identity)
      continue
    }
    const bucket = { manager: OLD_UPDATES, operation: 'Update', apiVersion, subresource: '' } as const
    const before = result.get(identityOf(bucket)) ?? result.get(first)
    result.delete(first)
    result.delete(identity)
    // The later of the two times.
    result.set(identityOf(bucket), {
      ...bucket,
      time: owner.time,
      fields: owner.fields.union(before?.fields ?? new FieldSet()),
    })
    count--
  }
  return result
}
