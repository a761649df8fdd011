import { computeQosClass } from '../../../../model/resources/compute-qos-class.ts'
import type { Pod, PodCondition, PodSpec, PodStatus } from '../../../../model/generated/core-v1.ts'
import { defaultPod } from '../../../../model/schema/default-pod.ts'
import { validatePod } from '../../../../model/schema/validate-pod.ts'
import type { Violation } from '../../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules, SelectableFields } from '../../resource.ts'
import { sameValue } from '../../../../base/document/same-value.ts'
import { fillFromLimitRanges, LIMIT_RANGE_ANNOTATION } from '../../../quota/apply-limit-ranges.ts'
import { admitPod, withDefaultTolerations } from './pod-admission.ts'
import { validatePodStatus } from './validate-pod-status.ts'
import { validatePodUpdate } from './validate-pod-update.ts'
import { warnOfName, warnOfPod } from '../../warnings/warn-pod.ts'

type StoredPod = ObjectOf<Pod>

const DEFAULT_SCHEDULER = 'default-scheduler'
const DEFAULT_GRACE_SECONDS = 30
// Not refused here: admitUsersInHostNetwork() decides by the features that nodes declare.
export const POD_RULES = { userNamespacesHostNetwork: true }

/** Pods: what the API server and the scheduler of a cluster would decide about them. */
export const podRules: ResourceRules<StoredPod> = {
  fillDefaults: (pod) => ({ ...pod, spec: defaultPod({ metadata: pod.metadata, spec: specOf(pod) }).spec }),

  prepareCreate: (pod, context) => {
    const ranges = context.objects.list('limitranges', pod.metadata.namespace)
    const filled = fillFromLimitRanges(admitPod(specOf(pod), pod, context), ranges)
    const completed = filled.spec
    const annotations = filled.annotation && {
      ...pod.metadata.annotations,
      [LIMIT_RANGE_ANNOTATION]: filled.annotation,
    }
    const { nodeName } = context
    const isBoundHere = nodeName !== undefined && !completed.nodeName && isSchedulable(completed)
    const spec = isBoundHere ? { ...completed, nodeName } : completed
    // One that comes with its node was scheduled by others; its agent says so.
    const conditions = completed.nodeName ? [] : scheduledCondition(spec, context.now)
    const status: PodStatus = {
      phase: 'Pending',
      qosClass: computeQosClass({ spec }),
      ...(conditions.length > 0 && { conditions }),
    }
    return { ...pod, metadata: { ...pod.metadata, ...(annotations && { annotations }) }, spec, status }
  },

  prepareUpdate: (pod, before, context) => {
    const spec = withDefaultTolerations(specOf(pod))
    if (context.nodeName === undefined || spec.nodeName || !isSchedulable(spec)) return { ...pod, spec }
    // The last scheduling gate is gone.
    return bindPod({ ...pod, spec, status: before.status }, context.nodeName, context.now)
  },

  // A change has no warnings: programs change pods far more often than people do.
  warn: (pod, before) =>
    before === undefined
      ? [...warnOfName(pod.metadata, "the Pod's hostname"), ...warnOfPod(specOf(pod), pod.metadata)]
      : [],

  // A pod that never ran on a node, or has ended, needs no grace.
  gracePeriodSeconds: ({ spec, status }, asked) => {
    if (!spec?.nodeName || status?.phase === 'Succeeded' || status?.phase === 'Failed') return 0
    const seconds = asked ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS
    return seconds < 0 ? 1 : seconds
  },

  prepareStatus: (pod, before) => ({ ...pod, status: { ...pod.status, qosClass: before.status?.qosClass } }),

  validate: (pod) => validatePod({ ...pod, spec: specOf(pod) }, undefined, POD_RULES),
  validateUpdate: (pod, before) => {
    if (sameValue(pod.spec, before.spec)) return []
    return [...validatePodUpdate(specOf(pod), specOf(before)), ...validateExistingPod(pod)]
  },
  validateStatus: validatePodStatus,
}

/** The fields that pods can be selected by. */
export const podFields: SelectableFields<StoredPod> = {
  'spec.nodeName': ({ spec }) => spec?.nodeName,
  'spec.restartPolicy': ({ spec }) => spec?.restartPolicy,
  'spec.schedulerName': ({ spec }) => spec?.schedulerName,
  'spec.serviceAccountName': ({ spec }) => spec?.serviceAccountName,
  'spec.hostNetwork': ({ spec }) => String(spec?.hostNetwork === true),
  'status.phase': ({ status }) => status?.phase,
  'status.podIP': ({ status }) => status?.podIPs?.[0]?.ip ?? status?.podIP,
  'status.podIPs': ({ status }) => status?.podIPs?.[0]?.ip ?? status?.podIP,
  'status.nominatedNodeName': ({ status }) => status?.nominatedNodeName,
}

/** Gives a pod its node. */
export function bindPod(pod: StoredPod, nodeName: string, now: string): StoredPod {
  const spec = { ...specOf(pod), nodeName }
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled')
  const { nominatedNodeName: _, ...status } = pod.status ?? {}
  return { ...pod, spec, status: { ...status, conditions: [...others, ...scheduledCondition(spec, now)] } }
}

/** The rules of a pod that may have got ephemeral containers since it was made. */
export function validateExistingPod(pod: StoredPod): readonly Violation[] {
  return validatePod({ ...pod, spec: specOf(pod) }, undefined, POD_RULES).filter(
    ({ path, rule }) => path.toString() !== 'spec.ephemeralContainers' || !rule.startsWith('Forbidden'),
  )
}

/** The spec; the schema lets a pod come without one, and the defaults fill it in. */
export function specOf({ spec }: Pod): PodSpec {
  return spec ?? { containers: [] }
}

function isSchedulable(spec: PodSpec): boolean {
  return (spec.schedulingGates?.length ?? 0) === 0 && (spec.schedulerName ?? DEFAULT_SCHEDULER) === DEFAULT_SCHEDULER
}

function scheduledCondition(spec: PodSpec, now: string): PodCondition[] {
  if (spec.nodeName) return [{ type: 'PodScheduled', status: 'True', lastTransitionTime: now }]
  if ((spec.schedulingGates?.length ?? 0) === 0) return []
  const message = 'Scheduling is blocked due to non-empty scheduling gates'
  return [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message, lastTransitionTime: now }]
}
