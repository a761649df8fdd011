import type { PodDisruptionBudget, StorageClass } from '../../model/generated/api-groups.ts'
import type { Namespace, Node, PersistentVolume, PersistentVolumeClaim } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'

/** What the scheduler decides by: the objects of the API at one moment. */
export interface ClusterView {
  /** The one node there is; undefined before it has registered. */
  readonly node: Node | undefined
  readonly pods: readonly Pod[]
  readonly claims: readonly PersistentVolumeClaim[]
  readonly volumes: readonly PersistentVolume[]
  readonly storageClasses: readonly StorageClass[]
  readonly namespaces: readonly Namespace[]
  readonly budgets: readonly PodDisruptionBudget[]
}

/** A node, and the pods that count as being on it while another pod is judged. */
export interface NodePlace extends Omit<ClusterView, 'node' | 'pods'> {
  readonly node: Node
  readonly present: readonly Pod[]
}

/** Why a pod cannot run on a node. */
export interface Unfit {
  readonly reasons: readonly string[]
  /** Whether it could be otherwise once other pods have left. */
  readonly isUpToPods: boolean
}

/** The priority that the API gave the pod. */
export function priorityOf({ spec }: Pod): number {
  return spec.priority ?? 0
}
