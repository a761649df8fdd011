import type { StorageClass } from '../../model/generated/api-groups.ts'
import type { Node, PersistentVolume, PersistentVolumeClaim } from '../../model/generated/core-v1.ts'
import { LOCAL_PROVISIONER, PROVISIONED_BY } from '../../model/storage/storage-classes.ts'
import type { Live } from '../engine/live-object.ts'

/** Keeps a volume until its data are removed, also when it is deleted before its claim. */
export const DATA_FINALIZER = 'external-provisioner.volume.kubernetes.io/finalizer'

const HOST_NAME = 'kubernetes.io/hostname'

/** Whether a volume is a folder that was made here. */
export function isLocal({ metadata }: PersistentVolume): boolean {
  return metadata?.annotations?.[PROVISIONED_BY] === LOCAL_PROVISIONER
}

/** Why no folder can be what a claim asks for. */
export function findRefusal(
  { spec }: PersistentVolumeClaim,
  { parameters = {}, allowedTopologies = [] }: StorageClass,
  node: Node,
): string | undefined {
  if (spec?.volumeMode === 'Block') return 'a folder cannot be a block device: volumeMode must be Filesystem'
  if (spec?.selector !== undefined) return 'claim.Spec.Selector is not supported'
  if (spec?.dataSource !== undefined || spec?.dataSourceRef !== undefined)
    return 'volumes with a data source are not supported'
  const [parameter] = Object.keys(parameters)
  if (parameter !== undefined)
    return `the class has the parameter "${parameter}": ${LOCAL_PROVISIONER} has no parameters`
  const labels = node.metadata?.labels ?? {}
  const isAllowed = allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.includes(labels[key] ?? '')),
  )
  return allowedTopologies.length === 0 || isAllowed
    ? undefined
    : 'the allowedTopologies of the class exclude this node'
}

/** The volume for a claim. It is called after the claim's UID, so a second try makes the same one. */
export function toVolume(
  claim: Live<PersistentVolumeClaim>,
  storageClass: Live<StorageClass>,
  { node, root }: { readonly node: Node; readonly root: string },
): PersistentVolume & { readonly metadata: { readonly name: string } } {
  const { namespace, name: claimName, uid, resourceVersion } = claim.metadata
  const name = `pvc-${uid}`
  const { reclaimPolicy = 'Delete', mountOptions } = storageClass
  const host = node.metadata?.labels?.[HOST_NAME] ?? node.metadata?.name ?? ''
  const here = [{ key: HOST_NAME, operator: 'In', values: [host] }]
  return {
    metadata: {
      name,
      annotations: { [PROVISIONED_BY]: LOCAL_PROVISIONER },
      ...(reclaimPolicy === 'Delete' && { finalizers: [DATA_FINALIZER] }),
    },
    spec: {
      capacity: { storage: claim.spec.resources?.requests?.['storage'] ?? '0' },
      accessModes: claim.spec.accessModes ?? [],
      volumeMode: 'Filesystem',
      storageClassName: storageClass.metadata.name,
      persistentVolumeReclaimPolicy: reclaimPolicy,
      ...(mountOptions && { mountOptions }),
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claimName, uid, resourceVersion },
      local: { path: `${root}/${name}` },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: here }] } },
    },
  }
}
