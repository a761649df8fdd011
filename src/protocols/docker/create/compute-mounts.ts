import { MountPropagation } from '../../cri/generated/runtime-v1.ts'
import type { Mount } from '../../cri/generated/runtime-v1.ts'
import { hasApi } from '../api/api-version.ts'
import type { BindMount } from '../api/docker-types.ts'
import { UnsupportedError } from './unsupported-error.ts'

// From here on a read-only mount of Docker is read-only also in what is mounted below it, unless it is asked not to be.
const RECURSIVE_SINCE = '1.44'

const PROPAGATION: Readonly<Partial<Record<MountPropagation, string>>> = {
  [MountPropagation.PROPAGATION_HOST_TO_CONTAINER]: 'rslave',
  [MountPropagation.PROPAGATION_BIDIRECTIONAL]: 'rshared',
}

/** A mount of a container. As `Mounts` and not as `Binds`: a path may contain a colon, and a missing source is an error, not a new folder. */
export function computeMount(mount: Mount, apiVersion: string): BindMount {
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
