/** What the cluster knows of CSI drivers and of the volumes they attach to this node. */
export interface CsiDriverObjects {
  /** How a driver is to be used; waits until the CSIDriver objects were read once. A driver without one has the defaults. */
  find(name: string, signal: AbortSignal): Promise<CsiDriverTraits>
  /** Read again each time; undefined while there is no such object. */
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

/** The CSIDriver object as the API has it. */
export interface CsiDriverObject {
  readonly metadata?: { readonly name?: string | undefined } | undefined
  readonly spec?: Partial<{
    readonly attachRequired: boolean
    readonly podInfoOnMount: boolean
    readonly fsGroupPolicy: CsiDriverTraits['fsGroupPolicy']
    readonly volumeLifecycleModes: CsiDriverTraits['lifecycleModes']
    readonly requiresRepublish: boolean
    readonly tokenRequests: readonly { readonly audience?: string; readonly expirationSeconds?: number }[]
    readonly serviceAccountTokenInSecrets: boolean
    readonly seLinuxMount: boolean
    readonly nodeAllocatableUpdatePeriodSeconds: number
  }>
}

/** How a driver is to be used; what its object does not say, and all of one that there is none of, is as ever. */
export function toDriverTraits(object: CsiDriverObject | undefined): CsiDriverTraits {
  const spec = object?.spec ?? {}
  return {
    attachRequired: spec.attachRequired ?? true,
    podInfoOnMount: spec.podInfoOnMount ?? false,
    fsGroupPolicy: spec.fsGroupPolicy ?? 'ReadWriteOnceWithFSType',
    lifecycleModes: spec.volumeLifecycleModes ?? ['Persistent'],
    requiresRepublish: spec.requiresRepublish ?? false,
    tokenRequests: (spec.tokenRequests ?? []).map(({ audience = '', expirationSeconds }) => ({
      audience,
      expirationSeconds,
    })),
    tokensInSecrets: spec.serviceAccountTokenInSecrets ?? false,
    seLinuxMount: spec.seLinuxMount ?? false,
    allocatableUpdateSeconds: spec.nodeAllocatableUpdatePeriodSeconds,
  }
}

/** Of a node without an API: every driver is as one that has no object. */
export const noCsiDriverObjects: CsiDriverObjects = {
  find: async () => toDriverTraits(undefined),
  findAttachment: async () => undefined,
}
