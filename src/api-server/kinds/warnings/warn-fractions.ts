import { formatQuantity, quantityMilliValue, tryParseQuantity } from '../../../model/resources/quantity.ts'
import type { FieldPath } from '../../../model/schema/field-path.ts'
import { warningAt } from './warning-at.ts'

/** Amounts of bytes that are no whole number, as 100m of memory is: its writer took m for mega. */
export function warnOfFractions(
  amounts: Readonly<Record<string, string | number>> | undefined,
  path: FieldPath,
  resources: readonly string[] = ['memory', 'ephemeral-storage'],
): readonly string[] {
  return resources.flatMap((resource) => {
    const quantity = tryParseQuantity(String(amounts?.[resource] ?? '0'))
    if (quantity === undefined || quantityMilliValue(quantity) % 1000n === 0n) return []
    const text = JSON.stringify(formatQuantity(quantity))
    return [warningAt(path.key(resource), `fractional byte value ${text} is invalid, must be an integer`)]
  })
}
