import type { ObjectMeta, OwnerReference } from '../../model/generated/core-v1.ts'

/** The metadata of an object that the API has stored. */
export type LiveMeta = ObjectMeta & {
  readonly name: string
  /** Empty for what belongs to no namespace. */
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
}

/** An object that the API has stored: it has an identity, and the spec that its kind demands. */
export type Live<T> = T & { readonly metadata: LiveMeta } & (T extends { readonly spec?: infer S }
    ? { readonly spec: NonNullable<S> }
    : unknown)

/** What a controller works on, by name. */
export type WorkKey = string

export function keyOf({ metadata }: { readonly metadata: LiveMeta }): WorkKey {
  return toKey(metadata.namespace, metadata.name)
}

export function toKey(namespace: string, name: string): WorkKey {
  return `${namespace}/${name}`
}

export function parseWorkKey(key: WorkKey): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** The one owner that decides about an object. */
export function controllerOf({ metadata }: { readonly metadata?: ObjectMeta | undefined }): OwnerReference | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller === true)
}

/** Whether a version of an object comes after another one; the versions of one API are whole numbers. */
export function isNewer(version: string, than: string): boolean {
  return version.length === than.length ? version > than : version.length > than.length
}
