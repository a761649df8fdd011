import type { ResourceResourceClaim, ResourceSlice } from '../../../model/generated/api-groups.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import { ageOf, columnsOf } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'

export const resourceClaimColumns: TableColumns<ObjectOf<ResourceResourceClaim>> = {
  columns: columnsOf('Name', 'State', 'Age'),
  cells: (claim, now) => [claim.metadata.name ?? '', stateOf(claim), ageOf(claim, now)],
}

export const resourceSliceColumns: TableColumns<ObjectOf<ResourceSlice>> = {
  columns: columnsOf('Name', 'Node', 'Driver', 'Pool', 'Age'),
  cells: (slice, now) => {
    const { nodeName = '<unset>', driver, pool } = slice.spec
    return [slice.metadata.name ?? '', nodeName, driver, pool.name, ageOf(slice, now)]
  },
}

function stateOf({ metadata, status }: ObjectOf<ResourceResourceClaim>): string {
  const states = [
    ...(metadata.deletionTimestamp === undefined ? [] : ['deleted']),
    ...(status?.allocation === undefined ? [] : ['allocated']),
    ...((status?.reservedFor ?? []).length === 0 ? [] : ['reserved']),
  ]
  return states.length === 0 ? 'pending' : states.join(',')
}
