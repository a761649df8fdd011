import type { Node } from '../../generated/core-v1.ts'
import { matchesNodeSelector } from './matches-node-selector.ts'
import type { Pod } from '../pod.ts'

/** Whether a node has what the node selector and the required node affinity of a pod ask for. */
export function matchesNodeAffinity({ spec }: Pick<Pod, 'spec'>, { metadata }: Node): boolean {
  const labels = new Map(Object.entries(metadata?.labels ?? {}))
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return (
    Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels.get(key) === value) &&
    (required === undefined ||
      matchesNodeSelector(required, { name: metadata?.name ?? '', labels: metadata?.labels ?? {} }))
  )
}
