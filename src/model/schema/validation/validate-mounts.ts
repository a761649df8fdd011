import type { Container, Volume, VolumeMount } from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { descendingPath, noBacksteps } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'

type Volumes = ReadonlyMap<string, Volume>

/** Which of the pod's volumes a container sees as directories, and which as devices. */
export function validateMounts(container: Container, volumes: Volumes, path: FieldPath, problems: ProblemList): void {
  const mounts = container.volumeMounts ?? []
  const devices = container.volumeDevices ?? []
  const paths = new Set<string>()
  for (const [index, mount] of mounts.entries()) {
    const at = path.child('volumeMounts').index(index)
    if (!mount.name) problems.required(at.child('name'))
    else if (!volumes.has(mount.name)) problems.notFound(at.child('name'), mount.name)
    if (!mount.mountPath) problems.required(at.child('mountPath'))
    else if (paths.has(mount.mountPath)) problems.invalid(at.child('mountPath'), mount.mountPath, 'is used twice')
    paths.add(mount.mountPath)
    if (devices.some(({ name }) => name === mount.name)) {
      problems.invalid(at.child('name'), mount.name, 'is used in volumeDevices already')
    }
    if (devices.some(({ devicePath }) => devicePath === mount.mountPath)) {
      problems.invalid(at.child('mountPath'), mount.mountPath, 'is the path of a device already')
    }
    validateMount(mount, container, at, problems)
  }
  validateDevices(container, volumes, path.child('volumeDevices'), problems)
}

function validateMount(mount: VolumeMount, container: Container, path: FieldPath, problems: ProblemList): void {
  if (mount.subPath) problems.matches(path.child('subPath'), mount.subPath, descendingPath)
  if (mount.subPathExpr) {
    problems.matches(path.child('subPathExpr'), mount.subPathExpr, descendingPath)
    if (mount.subPath) {
      problems.invalid(path.child('subPathExpr'), mount.subPathExpr, 'must not be set together with subPath')
    }
  }
  if (mount.mountPropagation !== undefined) {
    const at = path.child('mountPropagation')
    problems.oneOf(at, mount.mountPropagation, ['Bidirectional', 'HostToContainer', 'None'])
    if (mount.mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
      problems.forbidden(at, 'Bidirectional needs a privileged container')
    }
  }
  validateRecursiveReadOnly(mount, path.child('recursiveReadOnly'), problems)
}

function validateRecursiveReadOnly(mount: VolumeMount, path: FieldPath, problems: ProblemList): void {
  if (mount.recursiveReadOnly === undefined) return
  problems.oneOf(path, mount.recursiveReadOnly, ['Disabled', 'Enabled', 'IfPossible'])
  if (mount.recursiveReadOnly !== 'Enabled' && mount.recursiveReadOnly !== 'IfPossible') return
  if (mount.readOnly !== true) problems.forbidden(path, 'needs readOnly: true')
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
    problems.forbidden(path, 'excludes any mountPropagation but None')
  }
}

function validateDevices(container: Container, volumes: Volumes, path: FieldPath, problems: ProblemList): void {
  const names = new Set<string>()
  const paths = new Set<string>()
  for (const [index, { name, devicePath }] of (container.volumeDevices ?? []).entries()) {
    const at = path.index(index)
    const volume = volumes.get(name)
    if (!name) problems.required(at.child('name'))
    else if (names.has(name)) problems.invalid(at.child('name'), name, 'is used twice')
    else if (volume === undefined) problems.notFound(at.child('name'), name)
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      problems.invalid(at.child('name'), name, 'must be a persistentVolumeClaim or ephemeral volume for block mode')
    }
    names.add(name)
    if (!devicePath) problems.required(at.child('devicePath'))
    else if (paths.has(devicePath)) problems.invalid(at.child('devicePath'), devicePath, 'is used twice')
    else problems.matches(at.child('devicePath'), devicePath, noBacksteps)
    paths.add(devicePath)
  }
}
