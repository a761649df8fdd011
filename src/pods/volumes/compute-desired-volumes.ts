import { computePodPaths } from '../containers/pod-paths.ts'
import type { Volume, VolumeMount } from '../../model/generated/core-v1.ts'
import { allContainers } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { escapeName, volumePath } from './mounts/volume-paths.ts'
import type { VolumeSource, DesiredVolume } from './desired-volume.ts'

/** A volume of a pod with what its containers do with it. */
export interface UsedVolume {
  readonly volume: Volume
  /** A container has it among its volumeMounts. */
  readonly asFiles: boolean
  /** A container has it among its volumeDevices. */
  readonly asDevice: boolean
}

/** The volumes that the agent has to mount: those that a container uses, without the ones whose content comes from the runtime. */
export function computeUsedVolumes(pod: Pod): UsedVolume[] {
  const { volumes = [] } = pod.spec
  if (volumes.length === 0) return []
  const containers = allContainers(pod).map(({ container }) => container)
  const mounted = new Set(containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)))
  const devices = new Set(containers.flatMap(({ volumeDevices = [] }) => volumeDevices.map(({ name }) => name)))
  return volumes
    .filter(({ image }) => image === undefined)
    .map((volume) => ({ volume, asFiles: mounted.has(volume.name), asDevice: devices.has(volume.name) }))
    .filter(({ asFiles, asDevice }) => asFiles || asDevice)
}

export interface DesiredVolumeInput {
  readonly pod: Pod
  readonly used: UsedVolume
  readonly plugin: string
  readonly source: VolumeSource
  readonly rootDirectory: string
}

/** Everything that the kind of a volume needs to mount it for this pod. */
export function computeDesiredVolume({ pod, used, plugin, source, rootDirectory }: DesiredVolumeInput): DesiredVolume {
  const { uid } = pod.metadata
  const { name } = used.volume
  const specName = source.kind === 'inline' ? name : escapeName(source.volume.metadata?.name ?? '')
  const { directory } = computePodPaths(rootDirectory, uid)
  const { fsGroup, fsGroupChangePolicy } = pod.spec.securityContext ?? {}
  return {
    uid,
    specName,
    path: volumePath(directory, { use: used.asDevice ? 'device' : 'files', plugin, specName }),
    pod,
    name,
    source,
    readOnly: isReadOnly(used.volume, source),
    fsGroup: fsGroup === undefined ? undefined : Number(fsGroup),
    fsGroupChangePolicy: fsGroupChangePolicy === 'OnRootMismatch' ? 'OnRootMismatch' : 'Always',
    fsUser: computeFsUser(pod),
    nestedMountPoints: computeNestedMountPoints(pod, name),
  }
}

function isReadOnly({ persistentVolumeClaim }: Volume, source: VolumeSource): boolean {
  const { nfs, iscsi, fc }: Pick<Volume, 'nfs' | 'iscsi' | 'fc'> =
    source.kind === 'inline' ? source.volume : (source.volume.spec ?? {})
  return [persistentVolumeClaim, nfs, iscsi, fc].some((own) => own?.readOnly === true)
}

/** The user that all containers run as by the spec; undefined as soon as one of them may be another. */
function computeFsUser(pod: Pod): number | undefined {
  const users = new Set(
    allContainers(pod).map(
      ({ container }) => container.securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser,
    ),
  )
  const [user] = users
  return users.size === 1 && user !== undefined ? Number(user) : undefined
}

/** Where containers mount something inside this volume: the outermost directories, relative to the volume. */
function computeNestedMountPoints(pod: Pod, name: string): string[] {
  const found = allContainers(pod).flatMap(({ container: { volumeMounts = [] } }) =>
    volumeMounts
      .filter((mount) => mount.name === name && !isPartial(mount))
      .flatMap((mount) => pathsBelow(mount, volumeMounts)),
  )
  return [...new Set(found)].sort()
}

function isPartial({ subPath = '', subPathExpr = '' }: VolumeMount): boolean {
  return subPath !== '' || subPathExpr !== ''
}

function pathsBelow(outer: VolumeMount, all: readonly VolumeMount[]): string[] {
  const root = cleanPath(outer.mountPath)
  const below = all
    .map(({ mountPath }) => cleanPath(mountPath))
    .filter((path) => path.length > root.length && startsWith(path, root))
    .map((path) => path.slice(root.length))
  return below
    .filter((path) => !below.some((other) => other.length < path.length && startsWith(path, other)))
    .map((path) => path.join('/'))
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((part, index) => path[index] === part)
}

/** The elements of a path in a container, which cannot lead out of it. */
function cleanPath(path: string): string[] {
  const elements: string[] = []
  for (const element of path.split('/')) {
    if (element === '..') elements.pop()
    else if (element !== '' && element !== '.') elements.push(element)
  }
  return elements
}
