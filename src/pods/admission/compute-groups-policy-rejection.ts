import type { Pod } from '../../model/pod/pod.ts'
import type { Rejection } from './rejection.ts'

/** A runtime that does not know the policy would give the container groups that it must not have. */
export function computeGroupsPolicyRejection(
  { spec }: Pod,
  node: { readonly supplementalGroupsPolicy: boolean },
): Rejection | undefined {
  if (spec.securityContext?.supplementalGroupsPolicy !== 'Strict' || node.supplementalGroupsPolicy) return undefined
  return {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
  }
}
