import type { StorageClass } from '../../../model/generated/api-groups.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../model/generated/core-v1.ts'
import { isDefaultClass } from '../../../model/storage/storage-classes.ts'
import type { ApiObject, ObjectOf } from '../../store/api-object.ts'
import { ageOf, columnsOf } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'

const SHORT_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

/** The rows of `kubectl get pv`. */
export const persistentVolumeColumns: TableColumns<ObjectOf<PersistentVolume>> = {
  columns: columnsOf(
    'Name',
    'Capacity',
    'Access Modes',
    'Reclaim Policy',
    'Status',
    'Claim',
    'StorageClass',
    'VolumeAttributesClass',
    'Reason',
    'Age',
    'VolumeMode:wide',
  ),
  cells: (object, now) => {
    const { spec, status } = object
    const claim = spec?.claimRef
    return [
      object.metadata.name ?? '',
      spec?.capacity?.['storage'] ?? '',
      modesOf(spec?.accessModes),
      spec?.persistentVolumeReclaimPolicy ?? '',
      phaseOf(object, status?.phase),
      claim === undefined ? '' : `${claim.namespace}/${claim.name}`,
      spec?.storageClassName ?? '',
      spec?.volumeAttributesClassName ?? '<unset>',
      status?.reason ?? '',
      ageOf(object, now),
      spec?.volumeMode ?? '<unset>',
    ]
  },
}

/** The rows of `kubectl get pvc`. */
export const persistentVolumeClaimColumns: TableColumns<ObjectOf<PersistentVolumeClaim>> = {
  columns: columnsOf(
    'Name',
    'Status',
    'Volume',
    'Capacity',
    'Access Modes',
    'StorageClass',
    'VolumeAttributesClass',
    'Age',
    'VolumeMode:wide',
  ),
  cells: (object, now) => {
    const { spec, status } = object
    const isBound = Boolean(spec?.volumeName)
    return [
      object.metadata.name ?? '',
      phaseOf(object, status?.phase),
      spec?.volumeName ?? '',
      isBound ? (status?.capacity?.['storage'] ?? '') : '',
      isBound ? modesOf(status?.accessModes) : '',
      spec?.storageClassName ?? '',
      spec?.volumeAttributesClassName ?? '<unset>',
      ageOf(object, now),
      spec?.volumeMode ?? '<unset>',
    ]
  },
}

/** The rows of `kubectl get storageclass`. */
export const storageClassColumns: TableColumns<ObjectOf<StorageClass>> = {
  columns: columnsOf('Name', 'Provisioner', 'ReclaimPolicy', 'VolumeBindingMode', 'AllowVolumeExpansion', 'Age'),
  cells: (object, now) => [
    `${object.metadata.name ?? ''}${isDefaultClass(object) ? ' (default)' : ''}`,
    object.provisioner,
    object.reclaimPolicy ?? 'Delete',
    object.volumeBindingMode ?? '<unset>',
    object.allowVolumeExpansion === true,
    ageOf(object, now),
  ],
}

function phaseOf(object: ApiObject, phase: string | undefined): string {
  return object.metadata.deletionTimestamp === undefined ? (phase ?? '') : 'Terminating'
}

function modesOf(modes: readonly string[] | undefined): string {
  return [...new Set(modes)].map((mode) => SHORT_MODES[mode] ?? mode).join(',')
}
