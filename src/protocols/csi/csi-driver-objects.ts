/** What the cluster knows of CSI drivers and of the volumes they attach to this node. */
export interface CsiDriverObjects {
  /** How a driver is to be used; waits until the CSIDriver objects were read once. A driver without one has the defaults. */
  find(name: string, signal: AbortSignal): Promise<CsiDriverTraits>
  /** Asked anew each time; undefined while there is no such object. */
  findAttachment(driver: string, handle: string, signal: AbortSignal): Promise<CsiAttachment | undefined>
}

/** A CSIDriver object with its defaults. */
export interface CsiDriverTraits {
  readonly attachRequired: boolean
  readonly podInfoOnMount: boolean
  readonly fsGroupPolicy: 'ReadWriteOnceWithFSType' | 'File' | 'None'
  readonly lifecycleModes: readonly ('Persistent' | 'Ephemeral')[]
  readonly requiresRepublish: boolean
  readonly tokenRequests: readonly CsiTokenRequest[]
  readonly tokensInSecrets: boolean
  readonly seLinuxMount: boolean
  /** How often to ask the driver how many volumes this node can have; undefined: only once. */
  readonly allocatableUpdateSeconds: number | undefined
}

interface CsiTokenRequest {
  /** Empty: that of the API server. */
  readonly audience: string
  readonly expirationSeconds: number | undefined
}

/** The VolumeAttachment of one volume on this node. */
export interface CsiAttachment {
  readonly name: string
  readonly isAttached: boolean
  /** What the driver's controller has to say to its node service. */
  readonly metadata: Readonly<Record<string, string>>
  readonly error: string | undefined
  /** It cannot be attached because the node has as many volumes as it can. */
  readonly isExhausted: boolean
}
