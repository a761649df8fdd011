import type { Pod, PodSpec, Toleration } from '../../../../model/generated/core-v1.ts'

import { CONFIG_MIRROR_ANNOTATION } from '../../../../model/pod/pod.ts'
import { forbidden } from '../../../api-error.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { RequestContext } from '../../resource.ts'
import { withAccount } from './pod-account.ts'

type NewPod = ObjectOf<Pod>

const TROUBLE_SECONDS = 300
const TROUBLE_TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

/** What the admission plugins of a cluster add to the spec of a new pod, in their order. Throws Forbidden. */
export function admitPod(spec: PodSpec, pod: NewPod, context: RequestContext): PodSpec {
  const admitted = [withPriority, withRuntimeClass, withAccount].reduce(
    (each, complete) => complete(each, pod, context),
    spec,
  )
  return withDefaultTolerations(admitted)
}

/** A class gives the priority; a priority without its class must be what the default class would give. */
function withPriority(spec: PodSpec, pod: NewPod, { objects }: RequestContext): PodSpec {
  const resource = 'priorityclasses.scheduling.k8s.io'
  const found = spec.priorityClassName
    ? objects.get({ resource, namespace: '', name: spec.priorityClassName })
    : objects.list(resource).find(({ globalDefault }) => globalDefault === true)
  if (spec.priorityClassName && found === undefined) {
    throw forbidden(nameOf(pod), `no PriorityClass with name ${spec.priorityClassName} was found`)
  }
  const isMirror = pod.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined
  const priority = found?.value ?? 0
  if (spec.priority !== undefined && spec.priority !== priority && !isMirror) {
    throw forbidden(
      nameOf(pod),
      `spec.priority is ${spec.priority}, but its priority class gives ${priority}; name the class and leave the number out`,
    )
  }
  const preemptionPolicy = found?.preemptionPolicy ?? 'PreemptLowerPriority'
  return {
    ...spec,
    priority: spec.priority ?? priority,
    preemptionPolicy: spec.preemptionPolicy ?? preemptionPolicy,
    ...(found?.metadata.name && { priorityClassName: found.metadata.name }),
  }
}

/** A runtime class must exist; it adds its overhead and says where its pods can run. */
function withRuntimeClass(spec: PodSpec, pod: NewPod, { objects }: RequestContext): PodSpec {
  if (!spec.runtimeClassName) {
    if (spec.overhead === undefined || Object.keys(spec.overhead).length === 0) return spec
    const why = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'
    throw forbidden(nameOf(pod), why)
  }
  const found = objects.get({ resource: 'runtimeclasses.node.k8s.io', namespace: '', name: spec.runtimeClassName })
  if (found === undefined) {
    throw forbidden(nameOf(pod), `pod rejected: RuntimeClass "${spec.runtimeClassName}" not found`)
  }
  const { scheduling } = found
  const overhead = found.overhead?.podFixed
  return {
    ...spec,
    ...(overhead && { overhead }),
    ...(scheduling?.nodeSelector && { nodeSelector: { ...spec.nodeSelector, ...scheduling.nodeSelector } }),
    ...(scheduling?.tolerations && { tolerations: [...(spec.tolerations ?? []), ...scheduling.tolerations] }),
  }
}

function nameOf({ metadata }: NewPod) {
  return { group: '', resource: 'pods', name: metadata.name ?? metadata.generateName ?? '' }
}

/** Lets a pod stay for five minutes on a node that is in trouble, unless it has a toleration for that itself. */
export function withDefaultTolerations(spec: PodSpec): PodSpec {
  const present = spec.tolerations ?? []
  const added = TROUBLE_TAINTS.filter((key) => !present.some((toleration) => concerns(toleration, key))).map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: TROUBLE_SECONDS,
  }))
  return added.length === 0 ? spec : { ...spec, tolerations: [...present, ...added] }
}

function concerns({ key, effect }: Toleration, taint: string): boolean {
  return (!key || key === taint) && (!effect || effect === 'NoExecute')
}
