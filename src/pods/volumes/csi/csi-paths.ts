import { sha256 } from './csi-names.ts'

/** Where the Go kubelet keeps what drivers have for the whole node. */
function csiRoot(rootDirectory: string): string {
  return `${rootDirectory}/plugins/kubernetes.io/csi`
}

/** Where a volume is on the node, for all pods that use it. */
export interface StagingPlace {
  /** Handed to the driver. */
  readonly staging: string
  /** Has vol_data.json. */
  readonly data: string
}

/** Of a volume that pods use as files. */
export function filesStaging(rootDirectory: string, driver: string, handle: string): StagingPlace {
  const data = `${csiRoot(rootDirectory)}/${driver}/${sha256(handle)}`
  return { staging: `${data}/globalmount`, data }
}

/** The same for a block device, with what only those have. */
export interface BlockStagingPlace extends StagingPlace {
  /** Has a file for each pod that the driver publishes at. */
  readonly published: string
  /** Has a file for each pod that the device is bound on. */
  readonly mapped: string
  /** Has all of it but staging and published. */
  readonly own: string
}

export function deviceStaging(rootDirectory: string, specName: string): BlockStagingPlace {
  const devices = `${csiRoot(rootDirectory)}/volumeDevices`
  const own = `${devices}/${specName}`
  return {
    staging: `${devices}/staging/${specName}`,
    data: `${own}/data`,
    published: `${devices}/publish/${specName}`,
    mapped: `${own}/dev`,
    own,
  }
}

/** What the driver publishes for one pod, in the directory of the pod's volume. */
export function mountPath(volumePath: string): string {
  return `${volumePath}/mount`
}
