import type { ContainerMount } from '../../containers/compute-mounts.ts'
import { computeSubPath } from '../../containers/compute-sub-path.ts'
import { ContainerConfigError } from '../../containers/pod-config-error.ts'
import type { Device, ImageSpec } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { VolumeDevice, VolumeMount } from '../../../model/generated/core-v1.ts'
import { subPathsDirectory } from './volume-paths.ts'
import type { ReadyVolume } from '../desired-volume.ts'

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
  /** Volumes whose content comes from the runtime, by the same names. */
  readonly images: ReadonlyMap<string, ImageSpec>
  readonly environment: () => ReadonlyMap<string, string>
  readonly selinuxEnabled: boolean
  /** The runtime, as the pod uses it, can make mounts inside a mount read-only too. */
  readonly recursiveReadOnlyMounts: boolean
}

/** What a container mounts, in the order of its spec; throws ContainerConfigError for what cannot be. */
export function computeContainerMounts(input: ContainerMountsInput): PlannedMount[] {
  return (input.container.volumeMounts ?? []).map((mount, index) => {
    const common = {
      containerPath: mount.mountPath.startsWith('/') ? mount.mountPath : `/${mount.mountPath}`,
      recursiveReadOnly: isRecursiveReadOnly(input, mount),
      propagation: toPropagation(mount.mountPropagation),
    }
    const subPath = computeSubPath(mount, input.environment)
    const spec = input.images.get(mount.name)
    if (spec === undefined) return planFiles(input, { mount, index, subPath }, common)
    const image = { spec, subPath }
    return { mount: { ...common, hostPath: '', readOnly: true, selinuxRelabel: false, image }, part: undefined }
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

function planFiles(
  input: ContainerMountsInput,
  wanted: { readonly mount: VolumeMount; readonly index: number; readonly subPath: string },
  common: Pick<ContainerMount, 'containerPath' | 'recursiveReadOnly' | 'propagation'>,
): PlannedMount {
  const { container, podDirectory, selinuxEnabled } = input
  const { mount, index, subPath: path } = wanted
  const found = input.find(mount.name)
  if (found?.ready.kind !== 'files') {
    throw new ContainerConfigError(`cannot find volume "${mount.name}" to mount into container "${container.name}"`)
  }
  const { ready, specName } = found
  const target = `${subPathsDirectory(podDirectory, specName)}/${container.name}/${index}`
  return {
    mount: {
      ...common,
      hostPath: path === '' ? ready.hostPath : target,
      readOnly: mount.readOnly === true || ready.readOnly,
      selinuxRelabel: ready.selinuxRelabel && selinuxEnabled,
    },
    part: path === '' ? undefined : { volumeName: mount.name, root: ready.hostPath, path, target },
  }
}

function toPropagation(text = 'None'): ContainerMount['propagation'] {
  if (text === 'None' || text === 'HostToContainer' || text === 'Bidirectional') return text
  throw new ContainerConfigError(
    `Cannot use "${text}" as mountPropagation: expected None, HostToContainer or Bidirectional`,
  )
}

/** Read-only also below the mounts inside of the volume: the runtime and its kernel must be able to do that. */
function isRecursiveReadOnly({ recursiveReadOnlyMounts }: ContainerMountsInput, mount: VolumeMount): boolean {
  const { name, recursiveReadOnly: mode = 'Disabled', readOnly, mountPropagation = 'None' } = mount
  if (mode === 'Disabled') return false
  const requested = `volume "${name}" requested recursive read-only mode, but it is`
  if (readOnly !== true) throw unresolved(`${requested} not read-only`)
  if (mountPropagation !== 'None')
    throw unresolved(`${requested} not compatible with propagation "${mountPropagation}"`)
  if (mode === 'IfPossible') return recursiveReadOnlyMounts
  if (mode !== 'Enabled') throw unresolved(`unknown recursive read-only mode "${mode}"`)
  if (!recursiveReadOnlyMounts) throw unresolved(`${requested} not supported by the runtime`)
  return true
}

function unresolved(why: string): ContainerConfigError {
  return new ContainerConfigError(`failed to resolve recursive read-only mode: ${why}`)
}
