import type { ContainerAllocateResponse } from './generated/device-plugin-v1beta1.ts'

/** A device as its plugin describes it. */
export interface PluginDevice {
  readonly id: string
  readonly isHealthy: boolean
  /** The NUMA nodes that it is near to; none when that does not matter. */
  readonly nodes: readonly number[]
}

/** By id. */
export type DeviceList = ReadonlyMap<string, PluginDevice>

/** Ids by NUMA node; a device that is near to several is listed under each of them. */
export type DevicesByNode = ReadonlyMap<number, readonly string[]>

/** The key of devices that are near to no NUMA node. */
export const NO_NODE = -1

/** Which of the chosen devices the plugin may yet exchange for others. */
export interface OpenChoice {
  /** Those that it may not. */
  readonly fixed: readonly string[]
  /** Others have to be near to one of these; undefined: any will do. */
  readonly nodes: ReadonlySet<number> | undefined
}

/** Devices that belong to a container and that its plugin has not allocated yet. */
export interface ReservedDevices {
  readonly kind: 'reserved'
  readonly ids: readonly string[]
  readonly open: OpenChoice
}

/** Devices that the plugin has given to a container, with what the container needs to use them. */
interface GivenDevices {
  readonly kind: 'given'
  readonly ids: readonly string[]
  readonly byNode: DevicesByNode
  readonly response: ContainerAllocateResponse
  /** False for what an earlier agent recorded and that has not been seen in use since. */
  readonly isConfirmed: boolean
}

/** The devices of one container of one resource. */
export type ContainerDevices = ReservedDevices | GivenDevices

/** Sorts ids by the NUMA nodes of their devices. */
export function groupByNode(ids: readonly string[], devices: DeviceList): DevicesByNode {
  const groups = new Map<number, string[]>()
  for (const id of ids) {
    const nodes = devices.get(id)?.nodes ?? []
    for (const node of nodes.length === 0 ? [NO_NODE] : nodes) {
      const group = groups.get(node)
      if (group === undefined) groups.set(node, [id])
      else group.push(id)
    }
  }
  return groups
}
