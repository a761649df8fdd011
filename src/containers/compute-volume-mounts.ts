import type { ImageSpec } from '../cri/generated/runtime-v1.ts'
import type { VolumeMount } from '../model/generated/core-v1.ts'
import type { ContainerMount } from './compute-mounts.ts'
import { computeSubPath } from './compute-sub-path.ts'
import { ContainerConfigError } from './config-error.ts'

/** A volume that is ready to be mounted into containers. So far only images are; each kind of volume brings its own form. */
export interface ReadyVolume {
  readonly kind: 'image'
  readonly spec: ImageSpec
}

export interface VolumeMountsInput {
  readonly container: { readonly name: string; readonly volumeMounts?: readonly VolumeMount[] | undefined }
  /** By name; a volume that is missing here is not ready. */
  readonly volumes: ReadonlyMap<string, ReadyVolume>
  readonly environment: () => ReadonlyMap<string, string>
  /** Of the runtime handler that the pod has. */
  readonly recursiveReadOnlyMounts: boolean
}

/** What a container mounts of its pod's volumes, in the order of the spec. */
export function computeVolumeMounts(input: VolumeMountsInput): ContainerMount[] {
  return (input.container.volumeMounts ?? []).map((mount) => {
    const volume = input.volumes.get(mount.name)
    if (volume === undefined) {
      throw new ContainerConfigError(
        `cannot find volume "${mount.name}" to mount into container "${input.container.name}"`,
      )
    }
    return {
      containerPath: mount.mountPath.startsWith('/') ? mount.mountPath : `/${mount.mountPath}`,
      hostPath: '',
      readOnly: true,
      recursiveReadOnly: isRecursiveReadOnly(mount, input),
      propagation: toPropagation(mount.mountPropagation),
      selinuxRelabel: false,
      image: { spec: volume.spec, subPath: computeSubPath(mount, input.environment) },
    }
  })
}

function toPropagation(text = 'None'): ContainerMount['propagation'] {
  if (text === 'None' || text === 'HostToContainer' || text === 'Bidirectional') return text
  throw new ContainerConfigError(
    `Cannot use "${text}" as mountPropagation: expected None, HostToContainer or Bidirectional`,
  )
}

/** Read-only also below the mounts inside of the volume: the runtime and its kernel must be able to do that. */
function isRecursiveReadOnly(mount: VolumeMount, { recursiveReadOnlyMounts }: VolumeMountsInput): boolean {
  const { name, recursiveReadOnly: mode = 'Disabled', readOnly, mountPropagation = 'None' } = mount
  if (mode === 'Disabled') return false
  if (readOnly !== true) throw refuse(name, 'it is not mounted with readOnly: true')
  if (mountPropagation !== 'None') throw refuse(name, `mountPropagation is "${mountPropagation}", expected None`)
  if (mode === 'IfPossible') return recursiveReadOnlyMounts
  if (mode !== 'Enabled') throw refuse(name, `the mode is "${mode}", expected Disabled, IfPossible or Enabled`)
  if (!recursiveReadOnlyMounts) throw refuse(name, 'the container runtime does not support it')
  return true
}

function refuse(volume: string, state: string): ContainerConfigError {
  return new ContainerConfigError(`Cannot mount volume "${volume}" recursively read-only: ${state}`)
}
