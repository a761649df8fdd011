import type { Taint, Toleration } from '../../generated/core-v1.ts'

/** Does one of the tolerations cover the taint? What a toleration leaves out covers everything; Lt and Gt need a feature gate. */
export function toleratesTaint(
  tolerations: readonly Toleration[] | undefined,
  taint: Taint,
  options: { readonly comparisons: boolean },
): boolean {
  return (tolerations ?? []).some((toleration) => covers(toleration, taint, options.comparisons))
}

function covers({ key = '', operator = '', value = '', effect = '' }: Toleration, taint: Taint, comparisons: boolean) {
  if (effect !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  const own = taint.value ?? ''
  switch (operator) {
    case '':
    case 'Equal':
      return value === own
    case 'Exists':
      return true
    case 'Lt':
    case 'Gt':
      return comparisons && isOnSide(operator, own, value)
    default:
      return false
  }
}

const DECIMAL_INTEGER = /^(?:0|-?[1-9]\d{0,18})$/

function isOnSide(side: 'Lt' | 'Gt', own: string, bound: string): boolean {
  if (!DECIMAL_INTEGER.test(own) || !DECIMAL_INTEGER.test(bound)) return false
  return side === 'Lt' ? BigInt(own) < BigInt(bound) : BigInt(own) > BigInt(bound)
}
