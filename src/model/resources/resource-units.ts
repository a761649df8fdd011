import type { ResourceAmounts } from './compute-pod-requests.ts'
import { quantityMilliValue, quantityValue } from './quantity.ts'

/** How much of a resource, in the unit that messages count it in: thousandths of a CPU, whole units of everything else. */
export function amountOf(amounts: ResourceAmounts, resource: string): bigint {
  const quantity = amounts.get(resource)
  if (quantity === undefined) return 0n
  return resource === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity)
}
