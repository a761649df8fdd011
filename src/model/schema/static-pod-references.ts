import type { Container, PodSpec, Volume } from '../generated/core-v1.ts'
import { FieldPath } from './field-path.ts'
import type { Violation } from './validation/problem-list.ts'

// What a volume of this kind needs of the API. Kinds that are not named here live without it.
const VOLUME_REFERENCES: Partial<Record<keyof Volume, string>> = {
  configMap: 'configmaps',
  secret: 'secrets',
  csi: 'csidrivers',
  glusterfs: 'endpoints',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims',
  azureFile: 'secrets',
}
const PROJECTION_REFERENCES: Readonly<Record<string, string>> = {
  configMap: 'configmaps',
  secret: 'secrets',
  serviceAccountToken: 'serviceaccounts',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
}
// Kinds of volumes which need a Secret when they name one.
const WITH_SECRET_REF = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const

/** Every object of the API that a pod refers to: a static pod must start without an API server, so it may refer to none. */
export function findApiReferences(spec: PodSpec, root = FieldPath.root): readonly Violation[] {
  const found: Violation[] = [...findClaimReferences(spec, root)]
  const path = root.child('spec')
  const refuse = (at: FieldPath, resource: string) => found.push(forbid(at, resource))
  if (spec.serviceAccountName) refuse(path.child('serviceAccountName'), 'serviceaccounts')
  if ((spec.imagePullSecrets?.length ?? 0) > 0) refuse(path.child('imagePullSecrets'), 'secrets')
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      findInEnvironment(container, path.child(list).index(index), refuse)
    }
  }
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    findInVolume(volume, path.child('volumes').index(index), refuse)
  }
  return found
}

/** A claim is reserved for a pod by its UID, and that of a static pod is not known to the API: it could never be used. */
export function findClaimReferences(spec: PodSpec, root = FieldPath.root): readonly Violation[] {
  const hasClaims = (spec.resourceClaims?.length ?? 0) > 0
  return hasClaims ? [forbid(root.child('spec').child('resourceClaims'), 'resourceclaims')] : []
}

function forbid(path: FieldPath, resource: string): Violation {
  return { path, rule: `Forbidden: static pods may not reference ${resource}` }
}

type Refuse = (path: FieldPath, resource: string) => void

function findInEnvironment(container: Container, path: FieldPath, refuse: Refuse): void {
  for (const [index, source] of (container.envFrom ?? []).entries()) {
    const at = path.child('envFrom').index(index)
    if (source.secretRef) refuse(at.child('secretRef'), 'secrets')
    if (source.configMapRef) refuse(at.child('configMapRef'), 'configmaps')
  }
  for (const [index, variable] of (container.env ?? []).entries()) {
    const at = path.child('env').index(index).child('valueFrom')
    if (variable.valueFrom?.secretKeyRef) refuse(at.child('secretKeyRef'), 'secrets')
    if (variable.valueFrom?.configMapKeyRef) refuse(at.child('configMapKeyRef'), 'configmaps')
  }
}

function findInVolume(volume: Volume, path: FieldPath, refuse: Refuse): void {
  for (const [kind, resource] of Object.entries(VOLUME_REFERENCES)) {
    if (volume[kind as keyof Volume] !== undefined) refuse(path.child(kind), resource)
  }
  for (const kind of WITH_SECRET_REF) {
    if (volume[kind]?.secretRef?.name) refuse(path.child(kind).child('secretRef'), 'secrets')
  }
  for (const [index, source] of (volume.projected?.sources ?? []).entries()) {
    for (const kind of Object.keys(source)) {
      const resource = PROJECTION_REFERENCES[kind]
      if (resource !== undefined) refuse(path.child('projected').child('sources').index(index).child(kind), resource)
    }
  }
}
