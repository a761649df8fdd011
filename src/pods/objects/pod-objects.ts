import type { Clock } from '../../base/async/clock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type {
  ConfigMap,
  PersistentVolume,
  PersistentVolumeClaim,
  Secret,
  ServiceAccount,
} from '../../model/generated/core-v1.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { createCachingStore } from './caching-store.ts'
import { limitObjectApi } from './limit-object-api.ts'
import type { ClaimPatch, ObjectApi, NamespacedName, ReferencedKinds, Token, TokenSpec } from './object-api.ts'
import { isMissingObject, missingObject } from './object-store.ts'
import type { ObjectStore, StoredKind } from './object-store.ts'
import { podReferences } from './pod-references.ts'
import { ServiceAccounts } from './service-accounts.ts'
import { TokenCache } from './token-cache.ts'
import { createWatchingStore } from './watching-store.ts'
import { noObjectApi } from './object-api.ts'

/** What volumes and environments of pods read from the API. Everything fails with an ObjectError. */
export interface PodObjects {
  /** The pod must be registered. */
  configMap(key: NamespacedName, signal: AbortSignal): Promise<ConfigMap>
  secret(key: NamespacedName, signal: AbortSignal): Promise<Secret>
  /** Of the pod's service account. */
  token(pod: Pod, spec: TokenSpec, signal: AbortSignal): Promise<Token>
  /** The pod's; asked for each time, and from memory only while no API server answers. */
  serviceAccount(pod: Pod, signal: AbortSignal): Promise<ServiceAccount>
  /** Always asked for, never from memory. */
  claim(key: NamespacedName, signal: AbortSignal): Promise<PersistentVolumeClaim>
  persistentVolume(name: string, signal: AbortSignal): Promise<PersistentVolume>
  /** What the driver of a volume is to know; asked for each time, whichever pod it is for. */
  driverSecret(key: NamespacedName, signal: AbortSignal): Promise<Secret>
  patchClaimStatus(key: NamespacedName, patch: ClaimPatch, signal: AbortSignal): Promise<PersistentVolumeClaim>
  /** Before anything is read for the pod, and whenever its spec changed; the same pod again costs nothing. */
  register(pod: Pod): void
  /** At its very end. */
  unregister(uid: PodUid): void
}

export interface PodObjectsDeps {
  /** Undefined on a node without an API server. */
  readonly api: ObjectApi | undefined
  /** configMapAndSecretChangeDetectionStrategy. */
  readonly strategy: 'Watch' | 'Cache' | 'Get'
  readonly syncFrequencyMs: number
  /** What the node's annotation node.alpha.kubernetes.io/ttl says; undefined without one. */
  readonly nodeTtlMs: () => number | undefined
  /** Something changed that these pods refer to. */
  readonly onChange: (pods: readonly PodUid[]) => void
  readonly tasks: Pick<TaskGroup, 'run' | 'signal'>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

const DEFAULT_TTL_MS = 60_000
const LEAST_IDLE_MS = 60_000
const IDLE_SYNCS = 5

/** The objects of a node's pods, by the strategy of its configuration. */
export function createPodObjects(deps: PodObjectsDeps): PodObjects {
  const api = deps.api === undefined ? noObjectApi : limitObjectApi(deps.api, deps.clock)
  const configMaps = createStore('ConfigMap', api, deps)
  const secrets = createStore('Secret', api, deps)
  const tokens = new TokenCache({ ...deps, api, signal: deps.tasks.signal })
  const registered = new Map<PodUid, Pod>()
  const accounts = new ServiceAccounts({ api, isKnown: (uid) => registered.has(uid) })
  return {
    configMap: (key, signal) => configMaps.read(key, signal),
    secret: (key, signal) => secrets.read(key, signal),
    token: ({ metadata, spec }, tokenSpec, signal) => {
      const account = { namespace: metadata.namespace, name: spec.serviceAccountName ?? 'default' }
      return tokens.get(account, tokenSpec, signal)
    },
    serviceAccount: (pod, signal) => accounts.get(pod, signal),
    claim: (key, signal) => api.get('PersistentVolumeClaim', key, { cached: false }, signal),
    persistentVolume: (name, signal) => api.get('PersistentVolume', { namespace: '', name }, { cached: false }, signal),
    driverSecret: (key, signal) => api.get('Secret', key, { cached: false }, signal),
    patchClaimStatus: (key, patch, signal) => api.patchClaimStatus(key, patch, signal),
    register(pod) {
      const { uid, namespace } = pod.metadata
      if (registered.get(uid) === pod) return
      registered.set(uid, pod)
      const references = podReferences(pod)
      configMaps.register(
        uid,
        references.configMaps.map((name) => ({ namespace, name })),
      )
      secrets.register(
        uid,
        references.secrets.map((name) => ({ namespace, name })),
      )
    },
    unregister(uid) {
      registered.delete(uid)
      configMaps.register(uid, [])
      secrets.register(uid, [])
      tokens.forget(uid)
      accounts.forget(uid)
    },
  }
}

function createStore<K extends StoredKind>(
  kind: K,
  api: ObjectApi,
  deps: PodObjectsDeps,
): ObjectStore<ReferencedKinds[K]> {
  // Nothing is gained by watching a server that is not there, and its absence is reported at once.
  switch (api === noObjectApi ? 'Get' : deps.strategy) {
    case 'Watch': {
      const idleMs = Math.max(IDLE_SYNCS * deps.syncFrequencyMs, LEAST_IDLE_MS)
      return createWatchingStore({ ...deps, kind, api, idleMs })
    }
    case 'Cache': {
      const ttlMs = () => deps.nodeTtlMs() ?? DEFAULT_TTL_MS
      return createCachingStore({ ...deps, kind, api, ttlMs, signal: deps.tasks.signal })
    }
    case 'Get':
      return createAskingStore(kind, api)
  }
}

/** The strategy Get: asks each time. */
function createAskingStore<K extends StoredKind>(kind: K, api: ObjectApi): ObjectStore<ReferencedKinds[K]> {
  return {
    async read(key, signal) {
      try {
        return await api.get(kind, key, { cached: false }, signal)
      } catch (error) {
        throw isMissingObject(error) ? missingObject(kind, key) : error
      }
    },
    register: () => {},
  }
}
