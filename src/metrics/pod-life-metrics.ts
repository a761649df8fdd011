import { CONTAINER_TYPES } from './pod-start-metrics.ts'
import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** One try to make a sandbox. */
interface SandboxRun {
  readonly failed: boolean
  /** The empty one is that of the runtime's choice. */
  readonly handler: string
  readonly hasOwnUsers: boolean
  readonly seconds: number
}

/** What is counted of what happens to pods. */
export interface PodLifeMetrics {
  sandboxStart(run: SandboxRun): void
  /** A pod with users of its own could not be started at once, at whichever step. */
  ownUsersStartFailed(): void
  /** The node refused a pod. */
  podRejected(reason: string): void
  /** A pod was taken away and came back while it was still ending. */
  podRestarted(isStatic: boolean): void
  /** The runtime has a pod that is not known. */
  podOrphaned(): void
  /** A container was seen to have ended. */
  containerEnded(kind: keyof typeof CONTAINER_TYPES, end: { readonly exitCode: number; readonly reason: string }): void
  /** A hook that sleeps was given up before its time. */
  sleepCutShort(): void
  /** A hook asked over HTTPS, and had to ask again over HTTP. */
  hookFellBack(): void
  /** A pod had to leave for a critical one, which lacked this resource. */
  preemption(resource: string): void
}

export function createPodLifeMetrics(set: MetricSet): PodLifeMetrics {
  const counter = <T extends string = never>(name: string, help: string, labels: readonly T[] = []) =>
    set.counter<T>({ name: `kubelet_${name}`, help, labels })
  const rejections = counter('admission_rejections_total', 'Pods that the node refused, by reason.', ['reason'])
  const restarts = counter('restarted_pods_total', 'Pods that were taken away and came back with the same UID.', [
    'static',
  ])
  const orphans = counter('orphaned_runtime_pods_total', 'Pods of the runtime that were not known.')
  const ends = counter('terminated_containers_total', 'Containers that ended, by kind, exit code and reason.', [
    'container_type',
    'exit_code',
    'reason',
  ])
  const sleeps = counter('sleep_action_terminated_early_total', 'Hooks that were to sleep for longer than they could.')
  const fallbacks = counter('lifecycle_handler_http_fallbacks_total', 'Hooks over HTTPS that were answered in HTTP.')
  const preemptions = counter('preemptions', 'Pods that had to leave for a critical one, by what was short.', [
    'preemption_signal',
  ])
  return {
    ...createSandboxMetrics(set),
    podRejected: (reason) => rejections.inc({ reason: toRejectionLabel(reason) }),
    podRestarted: (isStatic) => restarts.inc({ static: isStatic ? 'true' : '' }),
    podOrphaned: () => orphans.inc(),
    containerEnded: (kind, { exitCode, reason }) =>
      ends.inc({ container_type: CONTAINER_TYPES[kind], exit_code: String(exitCode), reason }),
    sleepCutShort: () => sleeps.inc(),
    hookFellBack: () => fallbacks.inc(),
    preemption: (resource) => preemptions.inc({ preemption_signal: resource }),
  }
}

function createSandboxMetrics(set: MetricSet): Pick<PodLifeMetrics, 'sandboxStart' | 'ownUsersStartFailed'> {
  const counter = (name: string, help: string) => set.counter({ name: `kubelet_${name}`, help })
  const pods = counter('started_pods_total', 'Sandboxes that were to be made.')
  const errors = counter('started_pods_errors_total', 'Sandboxes that could not be made.')
  const ownUsers = counter(
    'started_user_namespaced_pods_total',
    'Sandboxes with users of their own that were to be made.',
  )
  const ownUsersErrors = counter(
    'started_user_namespaced_pods_errors_total',
    'Pods with users of their own that failed at their first start, in the sandbox or in a container.',
  )
  const labels = ['runtime_handler'] as const
  const runs = set.histogram({
    name: 'kubelet_run_podsandbox_duration_seconds',
    help: 'How long it takes to make a sandbox, by handler of the runtime.',
    labels,
  })
  const failedRuns = set.counter({
    name: 'kubelet_run_podsandbox_errors_total',
    help: 'Sandboxes that could not be made, by handler of the runtime.',
    labels,
  })
  return {
    sandboxStart({ failed, handler, hasOwnUsers, seconds }) {
      pods.inc()
      if (hasOwnUsers) ownUsers.inc()
      runs.observe({ runtime_handler: handler }, seconds)
      if (!failed) return
      errors.inc()
      failedRuns.inc({ runtime_handler: handler })
    },
    ownUsersStartFailed: () => ownUsersErrors.inc(),
  }
}

/** Reasons for which pods are rejected, as far as all nodes have them. */
const KNOWN_REASONS: ReadonlySet<string> = new Set([
  'AppArmor',
  'PodOSSelectorNodeLabelDoesNotMatch',
  'PodOSNotSupported',
  'InvalidNodeInfo',
  'InitContainerRestartPolicyForbidden',
  'SupplementalGroupsPolicyNotSupported',
  'UnexpectedAdmissionError',
  'UnknownReason',
  'UnexpectedPredicateFailureType',
  'OutOfcpu',
  'OutOfmemory',
  'OutOfephemeral-storage',
  'OutOfpods',
  'PodLevelResourcesNotSupported',
  'PodFeatureUnsupported',
  'Evicted',
  'SysctlForbidden',
  'TopologyAffinityError',
  'NodeShutdown',
  'VolumeAttachmentLimitExceeded',
])

/** The label of a reason. Labels are a closed set: names of extended resources and of whatever is to come are not among them. */
function toRejectionLabel(reason: string): string {
  if (KNOWN_REASONS.has(reason)) return reason
  return reason.startsWith('OutOf') ? 'OutOfExtendedResources' : 'Other'
}
