import type { NodeRuntimeHandler } from '../../../model/generated/core-v1.ts'

/** What is true of the node now: everything that its status is computed from, beside how it was set up. */
export interface NodeInfo {
  readonly identity: {
    readonly machineId: string
    readonly systemUuid: string
    readonly bootId: string
    readonly kernelVersion: string
    readonly osImage: string
  }
  readonly size: MachineSize
  readonly swapBytes: bigint
  readonly address: AddressInfo
  /** As in "containerd://2.1.4". */
  readonly runtimeVersion: string
  readonly images: readonly ImageInfo[]
  readonly handlers: readonly NodeRuntimeHandler[]
  /** Undefined while the runtime does not say. */
  readonly supplementalGroupsPolicy: boolean | undefined
  readonly pressures: { readonly memory: boolean; readonly disk: boolean; readonly pid: boolean }
  /** Why the node is not ready, the most important first. */
  readonly problems: readonly string[]
  /** Undefined while it is not known yet, which leaves what the Node object says. */
  readonly volumesInUse: readonly string[] | undefined
}

/** Devices that plugins provide. */
export interface DeviceInfo {
  /** By resource. */
  readonly capacity: ReadonlyMap<string, number>
  readonly allocatable: ReadonlyMap<string, number>
  /** False: nothing was recorded of devices, so what the Node object says of them is about another machine. */
  readonly areRecorded: boolean
}

/** How large the machine is. */
export interface MachineSize {
  readonly cpus: number
  readonly memoryBytes: bigint
  readonly hugepages: readonly { readonly sizeBytes: bigint; readonly count: bigint }[]
  /** Undefined where they are not counted. */
  readonly devices?: DeviceInfo | undefined
  /** Of the file system that holds the root directory; undefined while it could not be read. */
  readonly storageBytes: bigint | undefined
}

/** By which address the node is reached. */
export interface AddressInfo {
  /** What is wrong with the addresses that were asked for. */
  readonly fault: string | undefined
  /** The address that was found, where none was asked for. */
  readonly found: string | undefined
}

export interface ImageInfo {
  readonly id: string
  readonly repoTags: readonly string[]
  readonly repoDigests: readonly string[]
  readonly size: bigint
}
