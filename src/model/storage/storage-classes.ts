import type { StorageClass } from '../generated/api-groups.ts'
import type { PersistentVolumeClaim } from '../generated/core-v1.ts'
import { newestOf } from '../text/newest-of.ts'

/** The node that a claim's volume is to be made on, written by the scheduler. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node'
/** Who made a volume. */
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'
/** Who is to make the volume of a claim, under its name and its older one. */
export const STORAGE_PROVISIONERS = [
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-provisioner',
]
/** The provisioner of classes whose volumes people make. */
export const NO_PROVISIONER = 'kubernetes.io/no-provisioner'
/** The name by which classes ask a standalone node for volumes that are folders of its own. */
export const LOCAL_PROVISIONER = 'deckhand.local/folder'
/** What marks the class of claims that name none. */
export const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class'

const OLD_CLASS = 'volume.beta.kubernetes.io/storage-class'
const OLD_DEFAULT_CLASS = 'storageclass.beta.kubernetes.io/is-default-class'

/** The class that a claim names; empty when it wants none, undefined when it does not say. */
export function classNameOf({ metadata, spec }: PersistentVolumeClaim): string | undefined {
  return metadata?.annotations?.[OLD_CLASS] ?? spec?.storageClassName
}

/** Whether claims that name no class get this one. */
export function isDefaultClass({ metadata }: StorageClass): boolean {
  return [DEFAULT_CLASS, OLD_DEFAULT_CLASS].some((name) => metadata?.annotations?.[name] === 'true')
}

/** The class of claims that name none: of several the newest. */
export function findDefaultClass(classes: readonly StorageClass[]): string | undefined {
  return newestOf(classes.filter(isDefaultClass))?.metadata?.name
}

/** Whether a claim of a class gets its volume only when a pod needs it. */
export function waitsForConsumer(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer'
}
