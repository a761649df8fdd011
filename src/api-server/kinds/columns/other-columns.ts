import type { ApiObject } from '../../store/api-object.ts'
import { ageOf, columnsOf, formatDuration } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'

function nameOf(object: ApiObject): string {
  return object.metadata.name ?? ''
}

function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
}

function fieldsIn(object: ApiObject, field: 'spec' | 'status'): Readonly<Record<string, unknown>> {
  return (object[field] ?? {}) as Readonly<Record<string, unknown>>
}

function shown(value: unknown, ifAbsent = ''): string {
  return typeof value === 'string' ? value : ifAbsent
}

function joined(value: unknown, ifEmpty: string): string {
  return Array.isArray(value) && value.length > 0 ? value.join(',') : ifEmpty
}

export const namespaceColumns: TableColumns = {
  columns: columnsOf('Name', 'Status', 'Age'),
  cells: (object, now) => [nameOf(object), shown(fieldsIn(object, 'status')['phase']), ageOf(object, now)],
}

export const configMapColumns: TableColumns = {
  columns: columnsOf('Name', 'Data', 'Age'),
  cells: (object, now) => [
    nameOf(object),
    String(sizeOf(object['data']) + sizeOf(object['binaryData'])),
    ageOf(object, now),
  ],
}

export const secretColumns: TableColumns = {
  columns: columnsOf('Name', 'Type', 'Data', 'Age'),
  cells: (object, now) => [nameOf(object), shown(object['type']), String(sizeOf(object['data'])), ageOf(object, now)],
}

export const serviceAccountColumns: TableColumns = {
  columns: columnsOf('Name', 'Secrets', 'Age'),
  cells: (object, now) => [nameOf(object), String(sizeOf(object['secrets'])), ageOf(object, now)],
}

export const leaseColumns: TableColumns = {
  columns: columnsOf('Name', 'Holder', 'Age'),
  cells: (object, now) => [
    nameOf(object),
    shown(fieldsIn(object, 'spec')['holderIdentity'], '<none>'),
    ageOf(object, now),
  ],
}

export const runtimeClassColumns: TableColumns = {
  columns: columnsOf('Name', 'Handler', 'Age'),
  cells: (object, now) => [nameOf(object), shown(object['handler']), ageOf(object, now)],
}

export const priorityClassColumns: TableColumns = {
  columns: columnsOf('Name', 'Value:integer', 'Global-Default:boolean', 'Age', 'PreemptionPolicy'),
  cells: (object, now) => [
    nameOf(object),
    Number(object['value'] ?? 0),
    object['globalDefault'] === true,
    ageOf(object, now),
    shown(object['preemptionPolicy']),
  ],
}

export const csiDriverColumns: TableColumns = {
  columns: columnsOf(
    'Name',
    'AttachRequired:boolean',
    'PodInfoOnMount:boolean',
    'StorageCapacity:boolean',
    'TokenRequests',
    'RequiresRepublish:boolean',
    'Modes',
    'Age',
  ),
  cells: (object, now) => {
    const spec = fieldsIn(object, 'spec')
    const tokens = (spec['tokenRequests'] ?? []) as readonly { readonly audience: string }[]
    return [
      nameOf(object),
      spec['attachRequired'] !== false,
      spec['podInfoOnMount'] === true,
      spec['storageCapacity'] === true,
      tokens.length === 0 ? '<unset>' : tokens.map(({ audience }) => audience).join(','),
      spec['requiresRepublish'] === true,
      joined(spec['volumeLifecycleModes'], '<none>'),
      ageOf(object, now),
    ]
  },
}

export const csiNodeColumns: TableColumns = {
  columns: columnsOf('Name', 'Drivers:integer', 'Age'),
  cells: (object, now) => [nameOf(object), sizeOf(fieldsIn(object, 'spec')['drivers']), ageOf(object, now)],
}

export const volumeAttachmentColumns: TableColumns = {
  columns: columnsOf('Name', 'Attacher', 'PV', 'Node', 'Attached:boolean', 'Age'),
  cells: (object, now) => {
    const spec = fieldsIn(object, 'spec')
    const source = (spec['source'] ?? {}) as { readonly persistentVolumeName?: string }
    return [
      nameOf(object),
      shown(spec['attacher']),
      source.persistentVolumeName ?? '',
      shown(spec['nodeName']),
      fieldsIn(object, 'status')['attached'] === true,
      ageOf(object, now),
    ]
  },
}

export const certificateSigningRequestColumns: TableColumns = {
  columns: columnsOf('Name', 'Age', 'SignerName', 'Requestor', 'RequestedDuration', 'Condition'),
  cells: (object, now) => {
    const spec = fieldsIn(object, 'spec')
    const seconds = spec['expirationSeconds']
    return [
      nameOf(object),
      ageOf(object, now),
      shown(spec['signerName'], '<none>'),
      shown(spec['username']),
      typeof seconds === 'number' ? formatDuration(seconds * 1000) : '<none>',
      requestCondition(fieldsIn(object, 'status')),
    ]
  },
}

/** "Approved,Issued", "Denied", "Approved,Failed" or "Pending". */
function requestCondition(status: Readonly<Record<string, unknown>>): string {
  const conditions = (status['conditions'] ?? []) as readonly { readonly type: string }[]
  const has = (wanted: string) => conditions.some(({ type }) => type === wanted)
  const decided = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return [decided, ...(has('Failed') ? ['Failed'] : []), ...(status['certificate'] ? ['Issued'] : [])].join(',')
}
