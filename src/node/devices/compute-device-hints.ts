import type { PlacementHint } from '../placement/hint-provider.ts'
import type { DeviceList } from './device.ts'

export interface HintInput {
  /** All of the resource, also those that are unhealthy or taken. */
  readonly devices: DeviceList
  /** Ids that could be given. */
  readonly available: readonly string[]
  /** Ids that the pod has anyway, and that have to be among those given. */
  readonly reusable: readonly string[]
  readonly count: number
  /** Of the machine. */
  readonly numaNodes: readonly number[]
}

/** True when the plugin says of any device where it is. */
export function hasPlaces(devices: DeviceList): boolean {
  return [...devices.values()].some(({ nodes }) => nodes.length > 0)
}

/** The NUMA nodes that could give so many devices together; the fewest that could ever do so are preferred. */
export function computeDeviceHints(input: HintInput): readonly PlacementHint[] {
  const { devices, available, reusable, count } = input
  const nodesOf = (id: string) => devices.get(id)?.nodes ?? []
  const isIn = (mask: ReadonlySet<number>) => (id: string) => nodesOf(id).some((node) => mask.has(node))
  const masks = listMasks(computeUsedNodes(input))
  const placed = reusable.filter((id) => nodesOf(id).length > 0)
  const couldDo = masks.filter((mask) => [...devices.keys()].filter(isIn(mask)).length >= count)
  const fewest = Math.min(computeUsedNodes(input).length, ...couldDo.map((mask) => mask.size))
  return masks
    .filter((mask) => placed.every(isIn(mask)))
    .filter((mask) => placed.length + available.filter(isIn(mask)).length >= count)
    .map((nodes) => ({ nodes, preferred: nodes.size === fewest }))
}

/** Only nodes with such devices matter: a machine may have many others. */
function computeUsedNodes({ devices, numaNodes }: HintInput): readonly number[] {
  const used = new Set([...devices.values()].flatMap(({ nodes }) => nodes))
  const known = numaNodes.filter((node) => used.has(node))
  return (known.length === 0 ? [...numaNodes] : known).sort((a, b) => a - b)
}

/** Every choice of at least one node. */
function listMasks(nodes: readonly number[]): readonly ReadonlySet<number>[] {
  const count = 2 ** nodes.length
  return Array.from({ length: count - 1 }, (_, index) => {
    const bits = index + 1
    return new Set(nodes.filter((_node, position) => Math.floor(bits / 2 ** position) % 2 === 1))
  }).sort((a, b) => a.size - b.size)
}
