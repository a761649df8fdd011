import type {
  ContainerImage,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
} from '../../model/generated/core-v1.ts'
import { computeVolumeUses } from './compute-sample.ts'
import type { SummaryInput } from './compute-sample.ts'
import type { VolumeUse } from './page-message.ts'

/** An image as the agent's /why/images has it. */
export interface AgentImage {
  readonly id: string
  readonly names: readonly string[]
  readonly sizeBytes: number
  readonly pinned: boolean
  readonly inUse: boolean
  /** Milliseconds since the epoch. */
  readonly firstSeenAt: number
  readonly lastUsedAt?: number | undefined
}

export interface StorageInput {
  /** Undefined: only what the node's object lists is known. */
  readonly images: readonly AgentImage[] | undefined
  readonly nodeImages: readonly ContainerImage[]
  readonly pods: readonly Pod[]
  readonly claims: readonly PersistentVolumeClaim[]
  readonly volumes: readonly PersistentVolume[]
  readonly summary: SummaryInput | undefined
  /** Whether claims that no pod of the node uses are left out. */
  readonly isOneOfMany: boolean
}

export interface ImageRow {
  readonly id: string
  /** Tags before digests. */
  readonly names: readonly string[]
  readonly sizeBytes: number
  /** Undefined where no agent says it. */
  readonly firstSeenAt?: number | undefined
  readonly lastUsedAt?: number | undefined
  readonly isPinned: boolean
  /** By a container or a volume, also one that has ended. */
  readonly isUsed: boolean
  /** As namespace/name. */
  readonly pods: readonly string[]
}

export interface ClaimRow {
  readonly namespace: string
  readonly name: string
  readonly phase: string
  readonly className: string
  /** As the API writes it. */
  readonly requested: string
  readonly capacity: string
  readonly volume: string
  readonly use: VolumeUse | undefined
  readonly pods: readonly string[]
}

export interface VolumeRow {
  readonly name: string
  readonly phase: string
  readonly className: string
  readonly capacity: string
  readonly reclaimPolicy: string
  /** As namespace/name; empty: none. */
  readonly claim: string
  /** Its kind, and where it is. */
  readonly source: string
}

export interface DiskRow {
  readonly name: string
  readonly capacityBytes: number
  readonly availableBytes: number
}

/** Images, claims and volumes of a node. */
export interface StorageView {
  readonly disks: readonly DiskRow[]
  readonly images: readonly ImageRow[]
  /** What all images take, and what those take that nothing uses; layers that several share count for each. */
  readonly imageBytes: number
  readonly reclaimableBytes: number
  readonly claims: readonly ClaimRow[]
  readonly volumes: readonly VolumeRow[]
  /** What could not be read. */
  readonly problems: readonly string[]
}

export function computeStorageView(input: StorageInput): Omit<StorageView, 'problems'> {
  const images = computeImages(input).toSorted((a, b) => b.sizeBytes - a.sizeBytes)
  const sum = (rows: readonly ImageRow[]) => rows.reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0)
  const claims = computeClaims(input)
  const bound = new Set(claims.map(({ volume }) => volume))
  return {
    disks: computeDisks(input.summary),
    images,
    imageBytes: sum(images),
    reclaimableBytes: sum(images.filter(({ isUsed, isPinned }) => !isUsed && !isPinned)),
    claims,
    volumes: input.volumes
      .map(toVolumeRow)
      .filter(({ name }) => !input.isOneOfMany || bound.has(name))
      .toSorted((a, b) => a.name.localeCompare(b.name)),
  }
}

function computeDisks(summary: SummaryInput | undefined): readonly DiskRow[] {
  const { fs, runtime } = summary?.node ?? {}
  const named = [
    ['Pods, volumes and logs', fs],
    ['Images', runtime?.imageFs],
    ['Layers of containers', runtime?.containerFs],
  ] as const
  const disks = named.flatMap(([name, disk]) =>
    disk?.capacityBytes === undefined || disk.availableBytes === undefined
      ? []
      : [{ name, capacityBytes: disk.capacityBytes, availableBytes: disk.availableBytes }],
  )
  // Often all are on one disk.
  const bySize = Map.groupBy(disks, ({ capacityBytes }) => capacityBytes)
  return [...bySize.values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [{ ...first, name: [first.name, ...others.map(({ name }) => toLower(name))].join(', ') }],
  )
}

function toLower(name: string): string {
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`
}

function computeImages({ images, nodeImages, pods }: StorageInput): readonly ImageRow[] {
  const users = pods.map((pod) => ({ name: podName(pod), images: imagesOf(pod) }))
  const usersOf = (names: readonly string[]) => [
    ...new Set(users.flatMap((user) => (names.some((name) => user.images.has(name)) ? [user.name] : []))),
  ]
  if (images !== undefined)
    return images.map((image) => ({
      id: image.id,
      names: sortNames(image.names),
      sizeBytes: image.sizeBytes,
      firstSeenAt: image.firstSeenAt,
      lastUsedAt: image.lastUsedAt,
      isPinned: image.pinned,
      isUsed: image.inUse,
      pods: usersOf([image.id, ...image.names]),
    }))
  return nodeImages.map(({ names = [], sizeBytes = 0 }) => {
    const used = usersOf(names)
    return {
      id: names[0] ?? '',
      names: sortNames(names),
      sizeBytes: Number(sizeBytes),
      isPinned: false,
      isUsed: used.length > 0,
      pods: used,
    }
  })
}

function sortNames(names: readonly string[]): readonly string[] {
  return names.toSorted((a, b) => Number(a.includes('@')) - Number(b.includes('@')) || a.localeCompare(b))
}

/** All names by which a pod uses images. */
function imagesOf({ spec, status = {} }: Pod): ReadonlySet<string> {
  const statuses = [
    ...(status.initContainerStatuses ?? []),
    ...(status.containerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ]
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  const volumes = (spec?.volumes ?? []).flatMap(({ image }) => image?.reference ?? [])
  const names = [
    ...statuses.flatMap(({ image, imageID }) => [image, imageID, imageID.replace(/^.*@/, '')]),
    ...containers.flatMap(({ image }) => image ?? []),
    ...volumes,
  ]
  return new Set(names.filter((name) => name !== ''))
}

function computeClaims({ claims, pods, summary, isOneOfMany }: StorageInput): readonly ClaimRow[] {
  const uses = (summary?.pods ?? []).flatMap(computeVolumeUses)
  const rows = claims.map(({ metadata = {}, spec = {}, status = {} }): ClaimRow => {
    const { namespace = 'default', name = '' } = metadata
    const users = pods.filter(
      (pod) => (pod.metadata?.namespace ?? 'default') === namespace && claimsOf(pod).includes(name),
    )
    return {
      namespace,
      name,
      phase: metadata.deletionTimestamp === undefined ? (status.phase ?? 'Pending') : 'Terminating',
      className: spec.storageClassName ?? '',
      requested: spec.resources?.requests?.['storage'] ?? '',
      capacity: status.capacity?.['storage'] ?? '',
      volume: spec.volumeName ?? '',
      use: uses.find(({ claim }) => claim?.namespace === namespace && claim.name === name),
      pods: users.map(podName),
    }
  })
  return rows
    .filter(({ pods: users }) => !isOneOfMany || users.length > 0)
    .toSorted((a, b) => a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name))
}

function claimsOf({ metadata = {}, spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (ephemeral !== undefined) return [`${metadata.name}-${name}`]
    return persistentVolumeClaim?.claimName ?? []
  })
}

function toVolumeRow({ metadata = {}, spec = {}, status = {} }: PersistentVolume): VolumeRow {
  const { claimRef } = spec
  return {
    name: metadata.name ?? '',
    phase: status.phase ?? 'Pending',
    className: spec.storageClassName ?? '',
    capacity: spec.capacity?.['storage'] ?? '',
    reclaimPolicy: spec.persistentVolumeReclaimPolicy ?? '',
    claim: claimRef === undefined ? '' : `${claimRef.namespace}/${claimRef.name}`,
    source: describeSource(spec),
  }
}

function describeSource({ hostPath, local, nfs, csi, ...others }: PersistentVolumeSpec): string {
  if (hostPath !== undefined) return `hostPath ${hostPath.path}`
  if (local !== undefined) return `local ${local.path}`
  if (nfs !== undefined) return `nfs ${nfs.server}:${nfs.path}`
  if (csi !== undefined) return `csi ${csi.driver} ${csi.volumeHandle}`
  const known = ['iscsi', 'fc', 'rbd', 'cephfs', 'flexVolume'] as const
  return known.find((kind) => others[kind] !== undefined) ?? ''
}

function podName({ metadata = {} }: Pod): string {
  return `${metadata.namespace ?? 'default'}/${metadata.name ?? ''}`
}
