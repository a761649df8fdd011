import type { ApiObject } from '../../store/api-object.ts'
import { ageOf, columnsOf } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'

interface ClaimStatus {
  readonly allocation?: object
  readonly reservedFor?: readonly unknown[]
}

interface SliceSpec {
  readonly nodeName?: string
  readonly driver?: string
  readonly pool?: { readonly name?: string }
}

export const resourceClaimColumns: TableColumns = {
  columns: columnsOf('Name', 'State', 'Age'),
  cells: (object, now) => [object.metadata.name ?? '', stateOf(object), ageOf(object, now)],
}

export const resourceSliceColumns: TableColumns = {
  columns: columnsOf('Name', 'Node', 'Driver', 'Pool', 'Age'),
  cells: (object, now) => {
    const { nodeName = '<unset>', driver = '', pool } = (object['spec'] ?? {}) as SliceSpec
    return [object.metadata.name ?? '', nodeName, driver, pool?.name ?? '', ageOf(object, now)]
  },
}

function stateOf(object: ApiObject): string {
  const { allocation, reservedFor = [] } = (object['status'] ?? {}) as ClaimStatus
  const states = [
    ...(object.metadata.deletionTimestamp === undefined ? [] : ['deleted']),
    ...(allocation === undefined ? [] : ['allocated']),
    ...(reservedFor.length === 0 ? [] : ['reserved']),
  ]
  return states.length === 0 ? 'pending' : states.join(',')
}
