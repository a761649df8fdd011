import type { CsiDriverTraits } from './csi-driver-objects.ts'

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
