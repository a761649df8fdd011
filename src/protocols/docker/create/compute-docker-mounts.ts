import { MountPropagation } from '../../cri/generated/runtime-v1.ts'
import type { Mount } from '../../cri/generated/runtime-v1.ts'
import { hasApi } from '../api/api-version.ts'
import type { BindMount } from '../api/docker-types.ts'
import { UnsupportedError } from './unsupported-error.ts'

// From here on a read-only mount of Docker is read-only also in what is mounted below it, unless it is asked not to be.
const RECURSIVE_SINCE = '1.44'
const MAKES_SOURCE_SINCE = '1.42'

const PROPAGATION: Readonly<Partial<Record<MountPropagation, string>>> = {
  [MountPropagation.PROPAGATION_HOST_TO_CONTAINER]: 'rslave',
  [MountPropagation.PROPAGATION_BIDIRECTIONAL]: 'rshared',
}

/** What is mounted into a container: in the newer form, and in the older one, which is text. */
export interface DockerMounts {
  readonly Mounts: readonly BindMount[]
  readonly Binds: readonly string[]
}

/**
 * A source that is missing becomes a folder, as with other runtimes. Older versions of Docker do that only for mounts in the older form, which
 * has no place for a path with a colon.
 */
export function computeDockerMounts(mounts: readonly Mount[], apiVersion: string): DockerMounts {
  const all = mounts.map((mount) => computeMount(mount, apiVersion))
  const isOld = ({ Source: source, Target: target }: BindMount) =>
    !hasApi(apiVersion, MAKES_SOURCE_SINCE) && !source.includes(':') && !target.includes(':')
  return { Mounts: all.filter((mount) => !isOld(mount)), Binds: all.filter(isOld).map(toBind) }
}

function toBind({ Source: source, Target: target, ReadOnly: readonly, BindOptions: options }: BindMount): string {
  const flags = [...(readonly ? ['ro'] : []), ...(options.Propagation === undefined ? [] : [options.Propagation])]
  return [source, target, ...(flags.length === 0 ? [] : [flags.join(',')])].join(':')
}

function computeMount(mount: Mount, apiVersion: string): BindMount {
  const { hostPath, containerPath, readonly, recursiveReadOnly, propagation } = mount
  if (mount.image !== undefined && mount.image.image !== '')
    throw new UnsupportedError(`Cannot mount the image "${mount.image.image}": Docker has no image volumes`)
  if (mount.uidMappings.length > 0 || mount.gidMappings.length > 0)
    throw new UnsupportedError(`Cannot mount "${containerPath}" with mapped ids: Docker has no such mounts`)
  const recursive = hasApi(apiVersion, RECURSIVE_SINCE)
  if (recursiveReadOnly && !recursive)
    throw new UnsupportedError(
      `Cannot mount "${containerPath}" recursively read-only: expected Docker Engine 25 or newer`,
    )
  return {
    Type: 'bind',
    Source: hostPath,
    Target: containerPath,
    ReadOnly: readonly,
    BindOptions: {
      ...(hasApi(apiVersion, MAKES_SOURCE_SINCE) ? { CreateMountpoint: true } : {}),
      // None is private, but for a source that contains Docker's own folder: there Docker takes no less than rslave.
      ...(propagation in PROPAGATION ? { Propagation: PROPAGATION[propagation] } : {}),
      ...(readonly && recursive
        ? recursiveReadOnly
          ? { ReadOnlyForceRecursive: true }
          : { ReadOnlyNonRecursive: true }
        : {}),
    },
  }
}
