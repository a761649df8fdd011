import { isCriticalPod } from '../../model/pod/critical-pod.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { computeAppArmorRejection } from './compute-app-armor-rejection.ts'
import { computeFeatureRejection } from './compute-feature-rejection.ts'
import type { FeatureInfo } from './compute-feature-rejection.ts'
import { computeMismatches } from './compute-mismatches.ts'
import { computePreemption } from './compute-preemption.ts'
import { computePressureRejection } from './compute-pressure-rejection.ts'
import type { NodePressures } from '../../model/resources/fit/node-pressures.ts'
import { computeShortages } from '../../model/resources/fit/compute-shortages.ts'
import type { NodeRoom, Shortage } from '../../model/resources/fit/compute-shortages.ts'
import { computeSysctlRejection } from './compute-sysctl-rejection.ts'
import type { Rejection } from './rejection.ts'

/** What admission has to know of the node. */
export interface AdmissionInfo extends NodeRoom, FeatureInfo {
  /** Names of sysctls, or the beginning of such names and a star. */
  readonly allowedSysctls: readonly string[]
  /** Pods that are not desired any more and have not ended. */
  readonly endingPods: readonly Pod[]
  readonly supplementalGroupsPolicy: boolean
  readonly appArmor: boolean
  /** Undefined while nothing is known of the node. */
  readonly node: Node | undefined
  readonly pressures: NodePressures
  readonly taintComparisons: boolean
  readonly isShuttingDown: boolean
}

/** May the pod run here: yes, no, or once others have left. */
export type AdmissionDecision =
  | { readonly kind: 'admit' }
  | { readonly kind: 'reject'; readonly rejection: Rejection }
  | {
      readonly kind: 'preempt'
      readonly victims: readonly Pod[]
      /** The first that is short. */ readonly resource: string
    }

/** Of a pod that comes while the node shuts down. */
const NODE_SHUTDOWN: Rejection = {
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
}
const OS_LABEL = 'kubernetes.io/os'
/** Against labels, and against taints. */
const MARKS: ReadonlySet<string> = new Set(['NodeAffinity', 'TaintToleration'])

/** May this pod run here? The first reason against it, in the order of the Go kubelet; no pod is preempted for one that is rejected. */
export function computeAdmission(pod: Pod, info: AdmissionInfo): AdmissionDecision {
  const shortages = computeShortages(pod, info)
  const rejection =
    computeFirstRejection(pod, info) ??
    computeHopelessRejection(pod, info) ??
    computePlaceRejection(pod, info, shortages) ??
    computeAppArmorRejection(pod, info) ??
    computeFeatureRejection(pod, info) ??
    (info.isShuttingDown ? NODE_SHUTDOWN : undefined)
  if (rejection !== undefined) return { kind: 'reject', rejection }
  if (shortages.length === 0) return { kind: 'admit' }
  const preemption = computePreemption(pod, info.otherPods, shortages)
  if (preemption.kind === 'victims')
    return { kind: 'preempt', victims: preemption.victims, resource: shortages[0]?.resource ?? '' }
  const missing = preemption.missing.map(({ resource, amount }) => `(res: ${resource}, q: ${amount}), `).join('')
  const why = `error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${missing}]`
  const message = `Unexpected error while attempting to recover from admission failure: preemption: ${why}`
  return { kind: 'reject', rejection: { reason: 'UnexpectedAdmissionError', message } }
}

/** What is against the pod before anything is given to it. */
export function computeFirstRejection(pod: Pod, info: AdmissionInfo): Rejection | undefined {
  return computePressureRejection(pod, info) ?? computeSysctlRejection(pod, info.allowedSysctls)
}

/** True when labels or taints of the Node are all that is against the pod: they may be outdated, and are worth a second check. */
export function isOnlyAgainstMarks(pod: Pod, info: AdmissionInfo): boolean {
  if (info.node === undefined || computeShortages(pod, info).length > 0) return false
  const mismatches = computeMismatches(pod, { ...info, node: info.node })
  return mismatches.length > 0 && mismatches.every(({ reason }) => MARKS.has(reason))
}

/** What no preemption could help. */
function computeHopelessRejection(pod: Pod, info: AdmissionInfo): Rejection | undefined {
  if (info.node === undefined) return { reason: 'InvalidNodeInfo', message: 'Kubelet cannot get node info.' }
  if ((pod.metadata.labels?.[OS_LABEL] ?? 'linux') !== 'linux') {
    return {
      reason: 'PodOSSelectorNodeLabelDoesNotMatch',
      message: `Failed to admit pod as the \`${OS_LABEL}\` label doesn't match node label`,
    }
  }
  if ((pod.spec.os?.name ?? 'linux') !== 'linux') {
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" }
  }
  return computeGroupsPolicyRejection(pod, info)
}

/** A critical pod is not rejected for resources: others leave for it. */
function computePlaceRejection(pod: Pod, info: AdmissionInfo, shortages: readonly Shortage[]): Rejection | undefined {
  const [shortage] = isCriticalPod(pod) ? [] : shortages
  if (shortage !== undefined) return toRejection(shortage)
  return info.node === undefined ? undefined : computeMismatches(pod, { ...info, node: info.node })[0]
}

function toRejection({ resource, requested, used, capacity }: Shortage): Rejection {
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`
  return { reason: `OutOf${resource}`, message: `Node didn't have enough resource: ${resource}, ${amounts}` }
}

/** A runtime that does not know the policy would give the container groups that it must not have. */
function computeGroupsPolicyRejection(
  { spec }: Pod,
  node: { readonly supplementalGroupsPolicy: boolean },
): Rejection | undefined {
  if (spec.securityContext?.supplementalGroupsPolicy !== 'Strict' || node.supplementalGroupsPolicy) return undefined
  return {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
  }
}
