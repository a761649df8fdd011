import type { ConfigMap, Secret } from '../model/generated/core-v1.ts'
import type { Pod } from '../model/pod.ts'
import type { ObjectKey, Token, TokenSpec } from '../objects/object-api.ts'

/** The objects that volumes show. Failures are ObjectErrors. */
export interface VolumeContent {
  configMap(key: ObjectKey, signal: AbortSignal): Promise<ConfigMap>
  secret(key: ObjectKey, signal: AbortSignal): Promise<Secret>
  /** For the pod's service account. */
  token(pod: Pod, spec: TokenSpec, signal: AbortSignal): Promise<Token>
}
