import type { PersistentVolume } from '../../../model/generated/core-v1.ts'
import { matchesNodeSelector } from '../../../model/pod/matches-node-selector.ts'
import type { SelectableNode } from '../../../model/pod/matches-node-selector.ts'
import { mountOptionsOf } from './mount-options.ts'

/** Why a persistent volume cannot be used on this node; undefined when it can. */
export function findVolumeProblem(volume: PersistentVolume, node: SelectableNode): string | undefined {
  const { nodeAffinity, hostPath, volumeMode } = volume.spec ?? {}
  const name = volume.metadata?.name ?? ''
  if (nodeAffinity?.required !== undefined && !matchesNodeSelector(nodeAffinity.required, node))
    return `MountVolume.NodeAffinity check failed for volume "${name}" : no matching NodeSelectorTerms`
  // Nothing is mounted for a path of the node, or for a bare device.
  const takesOptions = hostPath === undefined || volumeMode === 'Block'
  if (!takesOptions && mountOptionsOf(volume).length > 0)
    return `volume "${name}": mount options are not supported for this volume type`
  return undefined
}
