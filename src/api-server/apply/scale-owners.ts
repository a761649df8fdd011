import { FieldSet } from './field-set.ts'
import type { ElementPath } from './field-set.ts'
import { identityOf } from './managed-fields.ts'
import type { FieldOwner, FieldOwners } from './managed-fields.ts'

const REPLICAS: ElementPath = ['f:spec', 'f:replicas']
export const SCALE_VERSION = 'autoscaling/v1'

/** The owners of the number of replicas, as owners of a Scale. */
export function toScaleOwners(owners: FieldOwners, replicas: ElementPath): FieldOwners {
  const owning = [...owners.values()].filter(({ fields }) => fields.has(replicas))
  return new Map(
    owning.map((owner) => {
      const inScale: FieldOwner = { ...owner, apiVersion: SCALE_VERSION, fields: FieldSet.of(REPLICAS) }
      return [identityOf(inScale), inScale]
    }),
  )
}

/** Owners of a Scale back to those of the object: who no longer owns the replicas there has lost them here too. */
export function toObjectOwners(
  owners: FieldOwners,
  scaleOwners: FieldOwners,
  { apiVersion, replicas }: { readonly apiVersion: string; readonly replicas: ElementPath },
): FieldOwners {
  const result = new Map<string, FieldOwner>()
  for (const [identity, owner] of owners) {
    const inScale = identityOf({ ...owner, apiVersion: SCALE_VERSION })
    const isLost = owner.fields.has(replicas) && !scaleOwners.has(inScale)
    const fields = isLost ? owner.fields.difference(FieldSet.of(replicas)) : owner.fields
    if (!fields.isEmpty) result.set(identity, { ...owner, fields })
  }
  for (const owner of scaleOwners.values()) {
    const own = { ...owner, apiVersion, fields: FieldSet.of(replicas) }
    const identity = identityOf(own)
    if (!result.has(identity)) result.set(identity, own)
  }
  return result
}
