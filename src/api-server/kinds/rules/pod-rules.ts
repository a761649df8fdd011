import { computeQosClass } from '../../../model/resources/compute-qos-class.ts'
import type { PodCondition, PodSpec, PodStatus, Toleration } from '../../../model/generated/core-v1.ts'
import { CONFIG_MIRROR_ANNOTATION } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { defaultPod } from '../../../model/schema/default-pod.ts'
import type { ManifestPod } from '../../../model/schema/default-pod.ts'
import { validatePod } from '../../../model/schema/validate-pod.ts'
import type { Violation } from '../../../model/schema/validation/problem-list.ts'
import { forbidden } from '../../api-error.ts'
import type { ApiObject } from '../../store/api-object.ts'
import type { ResourceRules, RuleContext } from '../resource.ts'
import { sameValue } from '../same-value.ts'
import { withDefaultTolerations } from './default-tolerations.ts'
import { withAccount } from './pod-account.ts'
import { validatePodUpdate } from './validate-pod-update.ts'

const DEFAULT_SCHEDULER = 'default-scheduler'

/** Pods: what the API server and the scheduler of a cluster would decide about them. */
export const podRules: ResourceRules = {
  fillDefaults: (object) => {
    const { metadata, spec, status } = { spec: { containers: [] }, ...object } as unknown as ManifestPod
    return { ...object, spec: defaultPod({ metadata, spec, status }).spec }
  },

  prepareCreate: (object, context) => {
    const admitted = [withPriority, withRuntimeClass, withAccount].reduce(
      (spec, complete) => complete(spec, object, context),
      specOf(object),
    )
    const completed = withDefaultTolerations(admitted)
    const spec =
      completed.nodeName || !isSchedulable(completed) ? completed : { ...completed, nodeName: context.nodeName }
    const bare: ApiObject = { ...object, spec, status: undefined }
    const status: PodStatus = {
      phase: 'Pending',
      qosClass: computeQosClass(bare as unknown as Pod),
      conditions: scheduledCondition(spec, context.now),
    }
    return { ...bare, status }
  },

  prepareUpdate: (object, before, context) => {
    const spec = specOf(object)
    if (spec.nodeName || !isSchedulable(spec)) return object
    // The last scheduling gate is gone.
    return bindPod({ ...object, status: before['status'] }, context.nodeName, context.now)
  },

  validate: (object) => validatePod(object as unknown as ManifestPod),
  validateUpdate: (object, before) => {
    if (sameValue(object['spec'], before['spec'])) return []
    return [...validatePodUpdate(specOf(object), specOf(before)), ...validateExistingPod(object)]
  },
}

/** Gives a pod its node. */
export function bindPod(object: ApiObject, nodeName: string, now: string): ApiObject {
  const status = (object['status'] ?? {}) as PodStatus
  const spec = { ...specOf(object), nodeName }
  const others = (status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled')
  return { ...object, spec, status: { ...status, conditions: [...others, ...scheduledCondition(spec, now)] } }
}

/** The rules of a pod that may have got ephemeral containers since it was made. */
export function validateExistingPod(object: ApiObject): readonly Violation[] {
  return validatePod(object as unknown as ManifestPod).filter(
    ({ path, rule }) => path.toString() !== 'spec.ephemeralContainers' || !rule.startsWith('Forbidden'),
  )
}

function specOf(object: ApiObject): PodSpec {
  return object['spec'] as PodSpec
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

/** A class gives the priority; a priority without its class must be what the default class would give. */
function withPriority(spec: PodSpec, object: ApiObject, { view }: RuleContext): PodSpec {
  const resource = 'priorityclasses.scheduling.k8s.io'
  const found = spec.priorityClassName
    ? view.get({ resource, namespace: '', name: spec.priorityClassName })?.object
    : view.list({ resource }).find((each) => each.object['globalDefault'] === true)?.object
  if (spec.priorityClassName && found === undefined) {
    throw forbidden(nameOf(object), `there is no PriorityClass "${spec.priorityClassName}"`)
  }
  const isMirror = object.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined
  const priority = Number(found?.['value'] ?? 0)
  if (spec.priority !== undefined && spec.priority !== priority && !isMirror) {
    throw forbidden(
      nameOf(object),
      `spec.priority is ${spec.priority}, but its priority class gives ${priority}; name the class and leave the number out`,
    )
  }
  const preemptionPolicy = (found?.['preemptionPolicy'] ?? 'PreemptLowerPriority') as string
  return {
    ...spec,
    priority: spec.priority ?? priority,
    preemptionPolicy: spec.preemptionPolicy ?? preemptionPolicy,
    ...(found?.metadata.name && { priorityClassName: found.metadata.name }),
  }
}

/** A runtime class must exist; it adds its overhead and says where its pods can run. */
function withRuntimeClass(spec: PodSpec, object: ApiObject, { view }: RuleContext): PodSpec {
  if (!spec.runtimeClassName) return spec
  const found = view.get({ resource: 'runtimeclasses.node.k8s.io', namespace: '', name: spec.runtimeClassName })?.object
  if (found === undefined) {
    throw forbidden(nameOf(object), `pod rejected: RuntimeClass "${spec.runtimeClassName}" not found`)
  }
  const overhead = (found['overhead'] as { podFixed?: Record<string, string> } | undefined)?.podFixed
  const scheduling = found['scheduling'] as
    | { nodeSelector?: Record<string, string>; tolerations?: readonly Toleration[] }
    | undefined
  return {
    ...spec,
    ...(overhead && { overhead }),
    ...(scheduling?.nodeSelector && { nodeSelector: { ...spec.nodeSelector, ...scheduling.nodeSelector } }),
    ...(scheduling?.tolerations && { tolerations: [...(spec.tolerations ?? []), ...scheduling.tolerations] }),
  }
}

function nameOf(object: ApiObject) {
  return { group: '', resource: 'pods', name: object.metadata.name ?? object.metadata.generateName ?? '' }
}
