import type { DeviceList, OpenChoice, PluginDevice } from './device.ts'

export interface DeviceRequest {
  readonly resource: string
  readonly count: number
  /** Devices of init containers of the same pod, which end before this container begins. */
  readonly reusable: readonly string[]
  /** The NUMA nodes that the container should be near to; undefined: any will do. */
  readonly affinity: ReadonlySet<number> | undefined
}

export interface DeviceStock {
  readonly devices: DeviceList
  /** Those that containers have. */
  readonly taken: ReadonlySet<string>
}

/** Which devices a container gets, or why it gets none. */
export type DeviceChoice =
  | { readonly kind: 'chosen'; readonly ids: readonly string[]; readonly open: OpenChoice }
  | { readonly kind: 'rejected'; readonly why: string }

/** Chooses devices: those that the pod has anyway, then those near to the container, then any. */
export function computeDeviceChoice(desired: DeviceRequest, { devices, taken }: DeviceStock): DeviceChoice {
  const { resource, count, affinity } = desired
  const healthy = sortedIds([...devices.values()].filter(({ isHealthy }) => isHealthy))
  if (healthy.length === 0) return reject(`no healthy devices present; cannot allocate unhealthy devices ${resource}`)
  const reused = desired.reusable.filter((id) => healthy.includes(id)).slice(0, count)
  const needed = count - reused.length
  if (needed === 0) return { kind: 'chosen', ids: reused, open: { fixed: reused, nodes: undefined } }
  const available = healthy.filter((id) => !taken.has(id))
  if (available.length < needed) {
    const numbers = `Requested: ${needed}, Available: ${available.length}`
    return reject(`requested number of devices unavailable for ${resource}. ${numbers}`)
  }
  const { aligned, others } = splitByAffinity(available, devices, affinity)
  if (needed < aligned.length)
    return {
      kind: 'chosen',
      ids: [...reused, ...aligned.slice(0, needed)],
      open: { fixed: reused, nodes: affinity },
    }
  const fixed = [...reused, ...aligned]
  return {
    kind: 'chosen',
    ids: [...fixed, ...others.slice(0, count - fixed.length)],
    open: { fixed, nodes: undefined },
  }
}

/** Those near to the container; then those near to something else, which has less use for those that are near to nothing. */
function splitByAffinity(
  available: readonly string[],
  devices: DeviceList,
  affinity: ReadonlySet<number> | undefined,
): { readonly aligned: readonly string[]; readonly others: readonly string[] } {
  const nodesOf = (id: string) => devices.get(id)?.nodes ?? []
  const hasTopology = [...devices.values()].some(({ nodes }) => nodes.length > 0)
  if (affinity === undefined || !hasTopology) return { aligned: [], others: available }
  const aligned = available.filter((id) => nodesOf(id).some((node) => affinity.has(node)))
  const rest = available.filter((id) => !aligned.includes(id))
  const isPlaced = (id: string) => nodesOf(id).length > 0
  return { aligned, others: [...rest.filter(isPlaced), ...rest.filter((id) => !isPlaced(id))] }
}

function reject(why: string): DeviceChoice {
  return { kind: 'rejected', why }
}

function sortedIds(devices: readonly PluginDevice[]): readonly string[] {
  return devices.map(({ id }) => id).sort()
}
