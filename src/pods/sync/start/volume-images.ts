import type { ImageSpec, PodSandboxConfig } from '../../../protocols/cri/generated/runtime-v1.ts'
import { containerFieldPath } from '../../../model/pod/pod-containers.ts'
import type { KindedContainer } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { StartError } from '../../../model/pod/start-error.ts'
import type { LocalImage, PodRuntime } from '../pod-runtime.ts'

/** The volumes of a pod that are images, by name; a promise of one that cannot be had fails with a StartError. */
export type VolumeImages = ReadonlyMap<string, Promise<ImageSpec>>

/** Asks for the images of all volumes at once. Failures are heard when a container needs the volume. */
export function requestVolumeImages(
  runtime: PodRuntime,
  {
    pod,
    sandbox,
    starts,
  }: {
    readonly pod: Pod
    readonly sandbox: PodSandboxConfig
    /** A container is to be started. */ readonly starts: boolean
  },
  signal: AbortSignal,
): VolumeImages {
  const images = (pod.spec.volumes ?? []).flatMap(({ name, image }) => {
    if (image === undefined) return []
    const volume = ensureVolume(runtime, { pod, sandbox, volume: { name, image }, quiet: !starts }, signal)
    volume.catch(() => {})
    return [[name, volume] as const]
  })
  return new Map(images)
}

async function ensureVolume(
  runtime: PodRuntime,
  request: Parameters<PodRuntime['images']['ensureVolume']>[0],
  signal: AbortSignal,
): Promise<ImageSpec> {
  const { ref } = await ensure(runtime, request, signal)
  const { pod, volume } = request
  return {
    image: ref,
    userSpecifiedImage: volume.image.reference ?? '',
    annotations: { ...pod.metadata.annotations },
    runtimeHandler: '',
    imageRef: '',
  }
}

async function ensure(...[runtime, request, signal]: Parameters<typeof ensureVolume>): Promise<LocalImage> {
  try {
    const image = await runtime.images.ensureVolume(request, signal)
    runtime.metrics.imageVolume(false)
    return image
  } catch (error) {
    if (error instanceof StartError) runtime.metrics.imageVolume(true)
    throw error
  }
}

/** The volumes that one container mounts. One that could not be had keeps this container from starting, and no other. */
export async function awaitVolumes(
  runtime: PodRuntime,
  { pod, kinded, images }: { readonly pod: Pod; readonly kinded: KindedContainer; readonly images: VolumeImages },
): Promise<ReadonlyMap<string, ImageSpec>> {
  const { container, kind } = kinded
  const volumes = new Map<string, ImageSpec>()
  try {
    for (const { name } of container.volumeMounts ?? []) {
      const volume = await images.get(name)
      if (volume !== undefined) volumes.set(name, volume)
    }
    return volumes
  } catch (error) {
    if (error instanceof StartError) {
      const fieldPath = containerFieldPath(kind, container.name)
      const message = `Error: ${error.reason}: ${error.message}`
      runtime.events.record(pod, { type: 'Warning', reason: 'Failed', message, fieldPath })
    }
    throw error
  }
}
