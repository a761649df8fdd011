import type { EndpointSlice } from '../../../model/generated/api-groups.ts'
import type { ApiObjects } from '../../engine/api-objects.ts'
import { isNamespaceEnding } from '../../engine/api-objects.ts'
import type { SlicePlan } from './compute-slice-plan.ts'

/** Carries out a plan: new ones first, so that no endpoint is missing in between. */
export async function writeSlices(
  slices: ApiObjects<EndpointSlice>,
  namespace: string,
  { create, update, remove }: SlicePlan,
  signal: AbortSignal,
): Promise<void> {
  for (const slice of create) {
    try {
      await slices.create(namespace, slice, signal)
    } catch (error) {
      if (!isNamespaceEnding(error)) throw error
    }
  }
  for (const slice of update) await slices.update(slice, signal)
  for (const slice of remove) await slices.remove(slice, {}, signal)
}
