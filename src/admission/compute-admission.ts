import type { Pod } from '../model/pod.ts'
import { computeAppArmorRejection } from './compute-app-armor-rejection.ts'
import { computeSysctlRejection } from './compute-sysctl-rejection.ts'
import type { Rejection } from './rejection.ts'

/** What admission has to know of the node. */
export interface AdmissionFacts {
  /** Names of sysctls, or the beginning of such names and a star. */
  readonly allowedSysctls: readonly string[]
  readonly supplementalGroupsPolicy: boolean
  readonly appArmor: boolean
}

/** May this pod run here? The first reason against it, in the order of the Go kubelet. */
export function computeAdmission(pod: Pod, node: AdmissionFacts): Rejection | undefined {
  return (
    computeSysctlRejection(pod, node.allowedSysctls) ??
    computeGroupsPolicyRejection(pod, node) ??
    computeAppArmorRejection(pod, node)
  )
}

/** A runtime that does not know the policy would give the container groups that it must not have. */
function computeGroupsPolicyRejection({ spec }: Pod, node: AdmissionFacts): Rejection | undefined {
  if (spec.securityContext?.supplementalGroupsPolicy !== 'Strict' || node.supplementalGroupsPolicy) return undefined
  return {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'supplementalGroupsPolicy "Strict" is not supported by the container runtime of this node',
  }
}
