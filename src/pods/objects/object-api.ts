import type {
  ConfigMap,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimCondition,
  Secret,
  ServiceAccount,
} from '../../model/generated/core-v1.ts'

/** The kinds of objects that pods refer to and the agent reads, by their name in messages. */
export interface ReferencedKinds {
  readonly ConfigMap: ConfigMap
  readonly Secret: Secret
  readonly PersistentVolumeClaim: PersistentVolumeClaim
  readonly PersistentVolume: PersistentVolume
  readonly ServiceAccount: ServiceAccount
}

export type ReferencedKind = keyof ReferencedKinds

/** Which object; the namespace is empty for kinds that have none. */
export interface NamespacedName {
  readonly namespace: string
  readonly name: string
}

/** What a node may say of a claim; null takes a field away. */
export interface ClaimPatch {
  readonly metadata: { readonly resourceVersion: string | undefined }
  readonly status: {
    readonly capacity?: { readonly storage: string }
    readonly allocatedResourceStatuses?: { readonly storage: string | null }
    readonly conditions?: readonly PersistentVolumeClaimCondition[]
  }
}

/** What a token is wanted for: as in the spec of a TokenRequest. */
export interface TokenSpec {
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  readonly boundObject: { readonly kind: 'Pod'; readonly name: string; readonly uid: string } | undefined
  /** Of the account that is meant: one of the same name that came since gives no token. */
  readonly accountUid?: string
}

/** A token with its end, and the life it was given: an API server may give another than was asked for. */
export interface Token {
  readonly token: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  readonly lifeSeconds: number
}

/**
 * What the agent asks a Kubernetes API about single objects. The client of a cluster is one, a folder of objects in tests another; nothing
 * in here ever lists more than one object.
 */
export interface ObjectApi {
  /** Fails with an ObjectError. Cached: an answer from the API server's memory will do, which may be a little old. */
  get<K extends ReferencedKind>(
    kind: K,
    key: NamespacedName,
    options: { readonly cached: boolean },
    signal: AbortSignal,
  ): Promise<ReferencedKinds[K]>
  /**
   * Reports the object first, then each change to it; undefined stands for one that is not there. Ends by failing, when the connection
   * breaks or the signal aborts; the caller begins again.
   */
  watch<K extends 'ConfigMap' | 'Secret'>(
    kind: K,
    key: NamespacedName,
    onObject: (object: ReferencedKinds[K] | undefined) => void,
    signal: AbortSignal,
  ): Promise<never>
  /** Fails with an ObjectError, also when the claim is another than the version in the patch says. */
  patchClaimStatus(key: NamespacedName, patch: ClaimPatch, signal: AbortSignal): Promise<PersistentVolumeClaim>
  /** A server that has no such endpoint at all fails with "the API server does not have TokenRequest endpoints enabled". */
  createToken(serviceAccount: NamespacedName, spec: TokenSpec, signal: AbortSignal): Promise<Token>
}

/** An object that could not be read. NotFound is certain: the object does not exist. */
export class ObjectError extends Error {
  override readonly name = 'ObjectError'
  readonly reason: 'NotFound' | 'Forbidden' | 'Unavailable' | 'Other'

  constructor(reason: ObjectError['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** A node without an API server: every question has the same answer. */
export const noObjectApi: ObjectApi = {
  get: () => Promise.reject(noServer()),
  watch: () => Promise.reject(noServer()),
  patchClaimStatus: () => Promise.reject(noServer()),
  createToken: () =>
    Promise.reject(new ObjectError('Unavailable', 'cannot use TokenManager when kubelet is in standalone mode')),
}

function noServer(): ObjectError {
  return new ObjectError('Unavailable', 'this node has no API server')
}
