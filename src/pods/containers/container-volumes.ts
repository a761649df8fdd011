import type { Container, EphemeralContainer } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { Device, ImageSpec } from '../../protocols/cri/generated/runtime-v1.ts'
import type { ContainerMount } from './compute-mounts.ts'

/** Which container is to get its part of the pod's volumes. */
export interface ContainerVolumesRequest {
  readonly pod: Pod
  readonly container: Container | EphemeralContainer
  /** Volumes of the pod whose content the runtime mounts, by name. */
  readonly images: ReadonlyMap<string, ImageSpec>
  readonly environment: () => ReadonlyMap<string, string>
  readonly recursiveReadOnlyMounts: boolean
}

/** What a container gets of the volumes of its pod. */
export interface ContainerVolumes {
  readonly mounts: readonly ContainerMount[]
  readonly devices: readonly Device[]
}
