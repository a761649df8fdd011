import type { IdMapping, UserNamespaceMapping } from '../../model/pod/user-namespace.ts'
import { isRecord } from '../../base/document/is-record.ts'

/** The text of a record as the Go kubelet writes it. */
export function formatUserNamespaceRecord({ uids, gids }: UserNamespaceMapping): string {
  const toEntry = ({ hostId, containerId, length }: IdMapping) => ({ hostId, containerId, length })
  return JSON.stringify({ uidMappings: uids.map(toEntry), gidMappings: gids.map(toEntry) })
}

/** Reads a record; throws for one that makes no sense. */
export function parseUserNamespaceRecord(text: string): UserNamespaceMapping {
  const record: unknown = JSON.parse(text)
  return { uids: toMappings(record, 'uidMappings'), gids: toMappings(record, 'gidMappings') }
}

function toMappings(record: unknown, field: string): IdMapping[] {
  const list = valueOf(record, field)
  if (!Array.isArray(list) || list.length === 0) throw recordError(field, list, 'expected a list of mappings')
  return list.map((entry) => ({
    hostId: toId(entry, 'hostId'),
    containerId: toId(entry, 'containerId'),
    length: toId(entry, 'length'),
  }))
}

function toId(entry: unknown, field: string): number {
  const value = valueOf(entry, field)
  const isId = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32
  if (!isId) throw recordError(field, value, 'expected a whole number below 2^32')
  return value
}

function valueOf(object: unknown, field: string): unknown {
  return isRecord(object) ? object[field] : undefined
}

function recordError(field: string, value: unknown, expected: string): Error {
  return new Error(`Cannot read ${field} of a user namespace: ${JSON.stringify(value)}, ${expected}`)
}
