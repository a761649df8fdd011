import type { PodUid } from '../../model/pod/pod.ts'
import type { ObjectApi, NamespacedName, ReferencedKinds } from './object-api.ts'
import { missingObject, RESOURCES } from './object-store.ts'
import type { ObjectStore, StoredKind } from './object-store.ts'
import { ReferencedObjects } from './referenced-objects.ts'
import { WatchedObject } from './watched-object.ts'
import type { WatchedObjectDeps } from './watched-object.ts'

export interface WatchingStoreDeps<K extends StoredKind> extends Pick<
  WatchedObjectDeps<ReferencedKinds[K]>,
  'idleMs' | 'tasks' | 'clock' | 'random' | 'log'
> {
  readonly kind: K
  readonly api: Pick<ObjectApi, 'watch'>
  /** An object changed that these pods refer to. */
  readonly onChange: (pods: readonly PodUid[]) => void
}

/** The strategy Watch: one watch for each object, however many pods refer to it. */
export function createWatchingStore<K extends StoredKind>(deps: WatchingStoreDeps<K>): ObjectStore<ReferencedKinds[K]> {
  const { kind, api } = deps
  const objects = new ReferencedObjects<WatchedObject<ReferencedKinds[K]>>({
    create: (key, pods) =>
      new WatchedObject<ReferencedKinds[K]>({
        ...deps,
        resource: RESOURCES[kind],
        watch: (onObject, signal) => api.watch(kind, key, onObject, signal),
        onChange: () => deps.onChange([...pods]),
      }),
    onPod: (object) => object.begin(),
    onUnused: (object) => object.end(),
  })
  return {
    async read(key: NamespacedName, signal: AbortSignal) {
      const object = await objects.get(key).read(signal)
      if (object === undefined) throw missingObject(kind, key)
      return object
    },
    register: (uid, keys) => objects.register(uid, keys),
  }
}
