import type {
  CertificateSigningRequest,
  CertificateSigningRequestStatus,
  CSIDriver,
  CSINode,
  Lease,
  PriorityClass,
  RuntimeClass,
  VolumeAttachment,
} from '../../../model/generated/api-groups.ts'
import type { ConfigMap, Namespace, Secret, ServiceAccount } from '../../../model/generated/core-v1.ts'
import type { ApiObject, ObjectOf } from '../../store/api-object.ts'
import { ageOf, columnsOf, humanDuration } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'

function nameOf({ metadata }: ApiObject): string {
  return metadata.name ?? ''
}

function sizeOf(map: object | undefined): number {
  return Object.keys(map ?? {}).length
}

export const namespaceColumns: TableColumns<ObjectOf<Namespace>> = {
  columns: columnsOf('Name', 'Status', 'Age'),
  cells: (namespace, now) => [nameOf(namespace), namespace.status?.phase ?? '', ageOf(namespace, now)],
}

export const configMapColumns: TableColumns<ObjectOf<ConfigMap>> = {
  columns: columnsOf('Name', 'Data', 'Age'),
  cells: (map, now) => [nameOf(map), sizeOf(map.data) + sizeOf(map.binaryData), ageOf(map, now)],
}

export const secretColumns: TableColumns<ObjectOf<Secret>> = {
  columns: columnsOf('Name', 'Type', 'Data', 'Age'),
  cells: (secret, now) => [nameOf(secret), secret.type ?? '', sizeOf(secret.data), ageOf(secret, now)],
}

export const serviceAccountColumns: TableColumns<ObjectOf<ServiceAccount>> = {
  columns: columnsOf('Name', 'Age'),
  cells: (account, now) => [nameOf(account), ageOf(account, now)],
}

export const leaseColumns: TableColumns<ObjectOf<Lease>> = {
  columns: columnsOf('Name', 'Holder', 'Age'),
  cells: (lease, now) => [nameOf(lease), lease.spec?.holderIdentity ?? '<none>', ageOf(lease, now)],
}

export const runtimeClassColumns: TableColumns<ObjectOf<RuntimeClass>> = {
  columns: columnsOf('Name', 'Handler', 'Age'),
  cells: (runtimeClass, now) => [nameOf(runtimeClass), runtimeClass.handler, ageOf(runtimeClass, now)],
}

export const priorityClassColumns: TableColumns<ObjectOf<PriorityClass>> = {
  columns: columnsOf('Name', 'Value:integer', 'Global-Default:boolean', 'Age', 'PreemptionPolicy'),
  cells: (priorityClass, now) => [
    nameOf(priorityClass),
    priorityClass.value,
    priorityClass.globalDefault === true,
    ageOf(priorityClass, now),
    priorityClass.preemptionPolicy ?? '',
  ],
}

export const csiDriverColumns: TableColumns<ObjectOf<CSIDriver>> = {
  columns: columnsOf(
    'Name',
    'AttachRequired:boolean',
    'PodInfoOnMount:boolean',
    'StorageCapacity:boolean',
    'TokenRequests',
    'RequiresRepublish:boolean',
    'Modes',
    'Age',
  ),
  cells: (driver, now) => {
    const { spec } = driver
    const tokens = spec.tokenRequests ?? []
    return [
      nameOf(driver),
      spec.attachRequired !== false,
      spec.podInfoOnMount === true,
      spec.storageCapacity === true,
      tokens.length === 0 ? '<unset>' : tokens.map(({ audience }) => audience).join(','),
      spec.requiresRepublish === true,
      (spec.volumeLifecycleModes ?? []).join(',') || '<none>',
      ageOf(driver, now),
    ]
  },
}

export const csiNodeColumns: TableColumns<ObjectOf<CSINode>> = {
  columns: columnsOf('Name', 'Drivers:integer', 'Age'),
  cells: (node, now) => [nameOf(node), node.spec.drivers.length, ageOf(node, now)],
}

export const volumeAttachmentColumns: TableColumns<ObjectOf<VolumeAttachment>> = {
  columns: columnsOf('Name', 'Attacher', 'PV', 'Node', 'Attached:boolean', 'Age'),
  cells: (attachment, now) => {
    const { attacher, source, nodeName } = attachment.spec
    return [
      nameOf(attachment),
      attacher,
      source.persistentVolumeName ?? '',
      nodeName,
      attachment.status?.attached === true,
      ageOf(attachment, now),
    ]
  },
}

export const certificateSigningRequestColumns: TableColumns<ObjectOf<CertificateSigningRequest>> = {
  columns: columnsOf('Name', 'Age', 'SignerName', 'Requestor', 'RequestedDuration', 'Condition'),
  cells: (request, now) => {
    const { signerName, username, expirationSeconds: seconds } = request.spec
    return [
      nameOf(request),
      ageOf(request, now),
      signerName,
      username ?? '',
      seconds === undefined ? '<none>' : humanDuration(seconds * 1000),
      requestCondition(request.status ?? {}),
    ]
  },
}

/** "Approved,Issued", "Denied", "Approved,Failed" or "Pending". */
function requestCondition({ conditions = [], certificate }: CertificateSigningRequestStatus): string {
  const has = (wanted: string) => conditions.some(({ type }) => type === wanted)
  const decided = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return [decided, ...(has('Failed') ? ['Failed'] : []), ...(certificate ? ['Issued'] : [])].join(',')
}
