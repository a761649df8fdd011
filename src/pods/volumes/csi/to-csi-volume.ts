import type { SecretReference } from '../../../model/generated/core-v1.ts'
import type { NamespacedName } from '../../objects/object-api.ts'
import type { DesiredVolume, VolumeSource } from '../desired-volume.ts'
import { inlineHandle } from './csi-names.ts'
import type { CsiVolume } from './csi-volume.ts'

type PersistentSource = Extract<VolumeSource, { readonly kind: 'persistent' }>

/** What a pod wants, in the words of drivers. */
export function toCsiVolume(desired: DesiredVolume): CsiVolume {
  const { source } = desired
  return source.kind === 'inline' ? toEphemeral(desired) : toPersistent(desired, source)
}

function toEphemeral({ name, uid, pod, source, specName }: DesiredVolume): CsiVolume {
  const csi = source.kind === 'inline' ? source.volume.csi : undefined
  if (csi === undefined) throw new Error(`Cannot mount volume "${name}": expected csi in the spec of its pod`)
  const secret = csi.nodePublishSecretRef?.name
  return {
    driver: csi.driver,
    handle: inlineHandle(uid, specName),
    specName,
    specVolID: specName,
    isMigrated: false,
    lifecycle: 'Ephemeral',
    use: 'files',
    fsType: csi.fsType ?? '',
    readOnly: csi.readOnly === true,
    attributes: csi.volumeAttributes ?? {},
    mountOptions: [],
    selinuxLabel: '',
    accessModes: [],
    stageSecret: undefined,
    publishSecret: secret === undefined ? undefined : { namespace: pod.metadata.namespace, name: secret },
    expandSecret: undefined,
  }
}

function toPersistent({ name, specName, readOnly, selinux }: DesiredVolume, source: PersistentSource): CsiVolume {
  const { spec = {}, metadata } = source.volume
  const { csi } = spec
  if (csi === undefined) throw new Error(`Cannot mount volume "${name}": expected csi in the spec of "${specName}"`)
  if (csi.driver === '' || csi.driver.includes('/') || csi.volumeHandle === '')
    throw new Error(`Cannot mount volume "${specName}": expected the name of a driver and a volumeHandle in its spec`)
  return {
    driver: csi.driver,
    handle: csi.volumeHandle,
    specName,
    specVolID: metadata?.name ?? specName,
    isMigrated: source.isMigrated === true,
    lifecycle: 'Persistent',
    use: spec.volumeMode === 'Block' ? 'device' : 'files',
    fsType: csi.fsType ?? '',
    readOnly: readOnly || csi.readOnly === true,
    attributes: csi.volumeAttributes ?? {},
    // The old annotation is nothing to drivers.
    mountOptions: spec.mountOptions ?? [],
    selinuxLabel: selinux?.mountLabel ?? '',
    accessModes: spec.accessModes ?? [],
    stageSecret: toKey(csi.nodeStageSecretRef),
    publishSecret: toKey(csi.nodePublishSecretRef),
    expandSecret: toKey(csi.nodeExpandSecretRef),
  }
}

function toKey(reference: SecretReference | undefined): NamespacedName | undefined {
  return reference && { namespace: reference.namespace ?? '', name: reference.name ?? '' }
}
