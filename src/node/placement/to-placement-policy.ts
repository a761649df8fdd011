import type { Settings } from '../../model/config/load-configuration.ts'
import { parseGoBool } from '../../model/config/values/go-scalars.ts'
import type { NumaNode } from '../../system/machine/hardware/read-numa-nodes.ts'
import type { PlacementPolicy } from './placement-policy.ts'

// Each node more doubles the work of every admission.
const MOST_NODES = 16

/** The topology policy on this machine; undefined for "none". Fails on machines that it was not made for. */
export function toPlacementPolicy(
  { config, gates }: Pick<Settings, 'config' | 'gates'>,
  nodes: readonly Pick<NumaNode, 'id' | 'distances'>[],
): PlacementPolicy | undefined {
  const { topologyManagerPolicy: kind, topologyManagerScope: scope, topologyManagerPolicyOptions: options } = config
  if (kind === 'none') return undefined
  const most = Math.min(Number(options['max-allowable-numa-nodes'] ?? 8), MOST_NODES)
  const what = `Cannot use the topology policy "${kind}"`
  if (nodes.length > most)
    throw new Error(`${what} with ${nodes.length} NUMA nodes: expected at most ${most}, see max-allowable-numa-nodes`)
  const preferClosest = parseGoBool(options['prefer-closest-numa-nodes'] ?? 'false')
  if (preferClosest && nodes.some(({ distances }) => distances.size < nodes.length))
    throw new Error(`${what} with prefer-closest-numa-nodes: expected distances of all NUMA nodes from the kernel`)
  return { kind, scope, podLevel: gates.enabled('PodLevelResourceManagers'), preferClosest, nodes }
}
