import type { Deployment, ReplicaSet } from '../../../model/generated/api-groups.ts'
import type { PodTemplateSpec } from '../../../model/generated/core-v1.ts'
import { sameValue } from '../../../base/document/same-value.ts'
import type { Live } from '../../engine/live-object.ts'

export const HASH_LABEL = 'pod-template-hash'
export const REVISION = 'deployment.kubernetes.io/revision'
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history'
/** How many replicas the deployment asked for when it last sized the set. */
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas'
/** … and how many it would have tolerated. */
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas'

/** The replica sets of a deployment, by their part in its rollout. */
export interface DeploymentSets {
  /** The one with the deployment's present template. */
  readonly current: Live<ReplicaSet> | undefined
  /** The others, the oldest first. */
  readonly old: readonly Live<ReplicaSet>[]
}

export function splitSets(deployment: Live<Deployment>, sets: readonly Live<ReplicaSet>[]): DeploymentSets {
  const ordered = sets.toSorted(compareAges)
  const current = ordered.find((set) => sameTemplate(set.spec.template, deployment.spec.template))
  return { current, old: ordered.filter((set) => set !== current) }
}

export function sameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean {
  return sameValue(withoutHash(a), withoutHash(b))
}

/** A template as the deployment has it: without the label by which its sets differ. */
function withoutHash(template: PodTemplateSpec = {}): PodTemplateSpec {
  const { [HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {}
  return { ...template, metadata: { ...template.metadata, labels } }
}

export function sizeOf({ spec }: Live<ReplicaSet>): number {
  return spec.replicas ?? 1
}

export function totalSize(sets: readonly Live<ReplicaSet>[]): number {
  return sets.reduce((total, set) => total + sizeOf(set), 0)
}

export function availableIn(sets: readonly Live<ReplicaSet>[]): number {
  return sets.reduce((total, { status }) => total + (status?.availableReplicas ?? 0), 0)
}

export function allOf({ current, old }: DeploymentSets): readonly Live<ReplicaSet>[] {
  return current === undefined ? old : [...old, current]
}

/** Those that are to have pods. */
export function activeOf(sets: readonly Live<ReplicaSet>[]): readonly Live<ReplicaSet>[] {
  return sets.filter((set) => sizeOf(set) > 0)
}

/** The older one first. */
export function compareAges(a: Live<ReplicaSet>, b: Live<ReplicaSet>): number {
  const [first = '', second = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp]
  return first === second ? (a.metadata.name < b.metadata.name ? -1 : 1) : first < second ? -1 : 1
}

export function annotationNumber(object: Live<Deployment | ReplicaSet>, name: string): number | undefined {
  const text = object.metadata.annotations?.[name]
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
