import type { PodUid } from '../../model/pod/pod.ts'
import { ObjectError } from './object-api.ts'
import type { NamespacedName } from './object-api.ts'

/** Kinds that pods name and that are kept at hand for them. */
export type StoredKind = 'ConfigMap' | 'Secret'

/** The objects of one kind that pods refer to. */
export interface ObjectStore<T> {
  /** Fails with an ObjectError: NotFound is certain. */
  read(key: NamespacedName, signal: AbortSignal): Promise<T>
  /** What a pod refers to from now on; nothing at its end. */
  register(uid: PodUid, keys: readonly NamespacedName[]): void
}

/** How messages that users know name the kinds. */
export const RESOURCES: Readonly<Record<StoredKind, string>> = { ConfigMap: 'configmap', Secret: 'secret' }

export function missingObject(kind: StoredKind, { name }: NamespacedName): ObjectError {
  return new ObjectError('NotFound', `${RESOURCES[kind]} "${name}" not found`)
}

export function isMissingObject(error: unknown): boolean {
  return error instanceof ObjectError && error.reason === 'NotFound'
}
