import type { ContainerMount } from '../containers/compute-mounts.ts'
import { ContainerConfigError } from '../containers/config-error.ts'
import type { Device } from '../cri/generated/runtime-v1.ts'
import type { VolumeDevice, VolumeMount } from '../model/generated/core-v1.ts'
import { subPathsDirectory } from './volume-paths.ts'
import type { ReadyVolume } from './volume-wish.ts'

/** A mount, and the part of the volume that has to be bound at its host path first. */
export interface PlannedMount {
  readonly mount: ContainerMount
  readonly part: VolumePart | undefined
}

export interface VolumePart {
  readonly volumeName: string
  readonly root: string
  readonly path: string
  readonly target: string
}

export interface ContainerMountsInput {
  readonly container: {
    readonly name: string
    readonly volumeMounts?: readonly VolumeMount[] | undefined
    readonly volumeDevices?: readonly VolumeDevice[] | undefined
  }
  readonly podDirectory: string
  /** A volume of the pod that is there, by its name in the spec. */
  readonly find: (name: string) => { readonly specName: string; readonly ready: ReadyVolume } | undefined
  /** The mount of an image; undefined when the volume is none. */
  readonly imageMount: (mount: VolumeMount) => ContainerMount | undefined
  /** Puts values for the variables in a subPathExpr. */
  readonly expand: (text: string) => string
  readonly selinuxEnabled: boolean
  /** The runtime can make mounts inside a mount read-only too. */
  readonly recursiveReadOnly: boolean
}

/** What a container mounts, in the order of its spec; throws ContainerConfigError for what cannot be. */
export function computeContainerMounts(input: ContainerMountsInput): PlannedMount[] {
  return (input.container.volumeMounts ?? []).map((mount, index) => {
    const image = input.imageMount(mount)
    return image === undefined ? planMount(input, mount, index) : { mount: image, part: undefined }
  })
}

/** The block devices of a container. */
export function computeContainerDevices({ container, find }: ContainerMountsInput): Device[] {
  return (container.volumeDevices ?? []).map(({ name, devicePath }) => {
    const ready = find(name)?.ready
    if (ready?.kind !== 'device') {
      throw new ContainerConfigError(`cannot find volume "${name}" to pass into container "${container.name}"`)
    }
    return { containerPath: devicePath, hostPath: ready.hostPath, permissions: ready.permissions }
  })
}

function planMount(input: ContainerMountsInput, mount: VolumeMount, index: number): PlannedMount {
  const { container, podDirectory } = input
  const found = input.find(mount.name)
  if (found?.ready.kind !== 'files') {
    throw new ContainerConfigError(`cannot find volume "${mount.name}" to mount into container "${container.name}"`)
  }
  const { ready, specName } = found
  const readOnly = mount.readOnly === true || ready.readOnly
  const path = subPathOf(input, mount)
  const target = `${subPathsDirectory(podDirectory, specName)}/${container.name}/${index}`
  return {
    mount: {
      containerPath: mount.mountPath.startsWith('/') ? mount.mountPath : `/${mount.mountPath}`,
      hostPath: path === '' ? ready.hostPath : target,
      readOnly,
      recursiveReadOnly: isRecursiveReadOnly(input, mount),
      propagation: propagationOf(mount),
      selinuxRelabel: ready.selinuxRelabel && input.selinuxEnabled,
    },
    part: path === '' ? undefined : { volumeName: mount.name, root: ready.hostPath, path, target },
  }
}

function subPathOf({ container, expand }: ContainerMountsInput, mount: VolumeMount): string {
  const { name, subPath = '', subPathExpr = '' } = mount
  const path = subPathExpr === '' ? subPath : expand(subPathExpr)
  if (path.startsWith('/') || path.split('/').includes('..')) {
    throw new ContainerConfigError(
      `cannot use subPath "${path}" for volumeMount "${name}" of container "${container.name}": expected a relative path without ".."`,
    )
  }
  return path
}

/** Only what the container asks for itself counts: a volume that is read-only anyway may have writable mounts in it. */
function isRecursiveReadOnly(input: ContainerMountsInput, mount: VolumeMount): boolean {
  const { name, recursiveReadOnly: asked = 'Disabled' } = mount
  if (asked === 'Disabled') return false
  const fail = (why: string) =>
    new ContainerConfigError(
      `cannot mount volume "${name}" into container "${input.container.name}" with recursiveReadOnly ${asked}: ${why}`,
    )
  if (mount.readOnly !== true) throw fail('the mount is not readOnly')
  if (propagationOf(mount) !== 'None') throw fail('mountPropagation is not None')
  if (asked === 'Enabled' && !input.recursiveReadOnly) throw fail('the runtime does not support it')
  return input.recursiveReadOnly
}

function propagationOf({ mountPropagation }: VolumeMount): ContainerMount['propagation'] {
  return mountPropagation === 'HostToContainer' || mountPropagation === 'Bidirectional' ? mountPropagation : 'None'
}
