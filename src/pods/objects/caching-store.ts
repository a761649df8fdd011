import { waitForShared } from '../../base/async/wait-for-shared.ts'
import { CachedObject } from './cached-object.ts'
import type { CachedObjectDeps } from './cached-object.ts'
import type { ObjectApi, NamespacedName, ReferencedKinds } from './object-api.ts'
import { missingObject } from './object-store.ts'
import type { ObjectStore, StoredKind } from './object-store.ts'
import { ReferencedObjects } from './referenced-objects.ts'

export interface CachingStoreDeps<K extends StoredKind> extends Pick<
  CachedObjectDeps<ReferencedKinds[K]>,
  'ttlMs' | 'clock'
> {
  readonly kind: K
  readonly api: Pick<ObjectApi, 'get'>
  /** Questions are shared, so they do not end with the one who asked first. */
  readonly signal: AbortSignal
}

/** The strategy Cache: each object is asked for again when it is older than its time to live. */
export function createCachingStore<K extends StoredKind>(deps: CachingStoreDeps<K>): ObjectStore<ReferencedKinds[K]> {
  const { kind, api, ttlMs, clock, signal: ownSignal } = deps
  const objects = new ReferencedObjects<CachedObject<ReferencedKinds[K]>>({
    create: (key) =>
      new CachedObject<ReferencedKinds[K]>({ get: (options) => api.get(kind, key, options, ownSignal), ttlMs, clock }),
    onPod: (object) => object.invalidate(),
    onUnused: () => {},
  })
  return {
    async read(key: NamespacedName, signal: AbortSignal) {
      const object = await waitForShared(objects.get(key).read(), signal)
      if (object === undefined) throw missingObject(kind, key)
      return object
    },
    register: (uid, keys) => objects.register(uid, keys),
  }
}
