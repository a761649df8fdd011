import type { PersistentVolume, Pod, PodSpec, Volume } from '../../model/generated/core-v1.ts'

/** The objects of its namespace that a pod needs to run, by name. */
export interface NeededObjects {
  readonly secrets: ReadonlySet<string>
  readonly configMaps: ReadonlySet<string>
  readonly claims: ReadonlySet<string>
  /** Those that were made for it too. */
  readonly resourceClaims: ReadonlySet<string>
}

type Named = { readonly name?: string | undefined } | undefined

/** Everything of the API that a pod names. */
export function findNeededObjects(pod: Pod): NeededObjects {
  const spec = pod.spec ?? ({ containers: [] } satisfies PodSpec)
  const volumes = spec.volumes ?? []
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
  const sources = containers.flatMap(({ envFrom }) => envFrom ?? [])
  const values = containers.flatMap(({ env }) => env ?? []).map(({ valueFrom }) => valueFrom)
  const projections = volumes.flatMap(({ projected }) => projected?.sources ?? [])
  return {
    secrets: namesIn([
      ...(spec.imagePullSecrets ?? []),
      ...sources.map(({ secretRef }) => secretRef),
      ...values.map((value) => value?.secretKeyRef),
      ...volumes.flatMap(secretsOf),
      ...projections.map(({ secret }) => secret),
    ]),
    configMaps: namesIn([
      ...sources.map(({ configMapRef }) => configMapRef),
      ...values.map((value) => value?.configMapKeyRef),
      ...volumes.map(({ configMap }) => configMap),
      ...projections.map(({ configMap }) => configMap),
    ]),
    claims: namesIn(volumes.map((volume) => ({ name: claimOf(pod, volume) }))),
    resourceClaims: namesIn([
      ...(spec.resourceClaims ?? []).map(({ resourceClaimName: name }) => ({ name })),
      ...(pod.status?.resourceClaimStatuses ?? []).map(({ resourceClaimName: name }) => ({ name })),
      { name: pod.status?.extendedResourceClaimStatus?.resourceClaimName },
    ]),
  }
}

function secretsOf(volume: Volume): readonly Named[] {
  return [
    { name: volume.secret?.secretName },
    { name: volume.azureFile?.secretName },
    volume.csi?.nodePublishSecretRef,
    volume.cephfs?.secretRef,
    volume.cinder?.secretRef,
    volume.flexVolume?.secretRef,
    volume.iscsi?.secretRef,
    volume.rbd?.secretRef,
    volume.scaleIO?.secretRef,
    volume.storageos?.secretRef,
  ]
}

/** An ephemeral volume has a claim that is called after the pod. */
function claimOf(pod: Pod, volume: Volume): string | undefined {
  if (volume.ephemeral !== undefined) return `${pod.metadata?.name ?? ''}-${volume.name}`
  return volume.persistentVolumeClaim?.claimName
}

/** Whether a node that mounts a volume needs a secret for it. A reference without a namespace means that of the claim. */
export function volumeNeedsSecret(volume: PersistentVolume, namespace: string, name: string): boolean {
  const { spec } = volume
  const references = [
    spec?.csi?.nodePublishSecretRef,
    spec?.csi?.nodeStageSecretRef,
    spec?.csi?.nodeExpandSecretRef,
    spec?.cephfs?.secretRef,
    spec?.cinder?.secretRef,
    spec?.flexVolume?.secretRef,
    spec?.iscsi?.secretRef,
    spec?.rbd?.secretRef,
    spec?.scaleIO?.secretRef,
    spec?.storageos?.secretRef,
    { name: spec?.azureFile?.secretName, namespace: spec?.azureFile?.secretNamespace },
  ]
  const own = spec?.claimRef?.namespace
  return references.some((each) => each?.name === name && (each.namespace || own) === namespace)
}

function namesIn(references: readonly Named[]): ReadonlySet<string> {
  return new Set(references.flatMap((reference) => (reference?.name ? [reference.name] : [])))
}
