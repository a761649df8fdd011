import type { ImageSpec, PodSandboxConfig } from '../../../protocols/cri/generated/runtime-v1.ts'
import { containerFieldPath } from '../../../model/pod/pod-containers.ts'
import type { PodContainer } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { StartError } from '../../../model/pod/start-error.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { ImageMetrics } from '../../../metrics/image-metrics.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'
import type { ImageVolumeSource } from '../../../model/generated/core-v1.ts'
import { findContainer } from '../../../model/pod/pod-containers.ts'
import type { PodPass } from '../pod-pass.ts'

/** An image that is on the node: what the runtime calls it and the user it names. */
export interface LocalImage {
  readonly ref: string
  readonly uid: bigint | undefined
  readonly username: string
}

/** The sandbox that an image is for. */
export interface ImageSandbox {
  readonly sandbox: PodSandboxConfig
  /** Empty for the usual one. */
  readonly runtimeHandler: string
}

/** Pulls images that are not on the node yet; fails with a StartError that says what users see. */
export interface ImageProvider {
  ensure(
    request: { readonly pod: Pod; readonly podContainer: PodContainer } & ImageSandbox,
    signal: AbortSignal,
  ): Promise<LocalImage>
  /** The same for a volume that is an image. Quiet: no event says that it is still there. */
  ensureVolume(
    request: {
      readonly pod: Pod
      readonly volume: { readonly name: string; readonly image: ImageVolumeSource }
      readonly quiet: boolean
    } & ImageSandbox,
    signal: AbortSignal,
  ): Promise<LocalImage>
}

export interface RequestImagesDeps {
  readonly images: ImageProvider
  readonly events: PodEvents
  readonly metrics: Pick<ImageMetrics, 'imageVolume'>
  readonly clock: Clock
}

/** The images of the containers that start, by container name; a promise of one that cannot be had fails with a StartError. */
export type ContainerImages = ReadonlyMap<string, Promise<LocalImage>>

/** Asks for all images at once, so that they come while the sandbox is made. A failure counts when a container needs its image. */
export function requestImages(
  deps: RequestImagesDeps,
  { pod, actions, history }: Pick<PodPass, 'pod' | 'actions' | 'history'>,
  sandbox: ImageSandbox,
  signal: AbortSignal,
): ContainerImages {
  return new Map(
    actions.start.map(({ name }) => {
      const ensured = deps.images.ensure({ pod, podContainer: findContainer(pod, name), ...sandbox }, signal)
      const image = history.startup.pulled(() => deps.clock.now(), ensured)
      image.catch(() => {})
      return [name, image] as const
    }),
  )
}

/** The volumes of a pod that are images, by name; a promise of one that cannot be had fails with a StartError. */
export type VolumeImages = ReadonlyMap<string, Promise<ImageSpec>>

/** Asks for the images of all volumes at once. A failure counts when a container needs the volume. */
export function requestVolumeImages(
  deps: RequestImagesDeps,
  {
    pod,
    sandbox,
    starts,
  }: {
    readonly pod: Pod
    readonly sandbox: ImageSandbox
    /** A container is to be started. */ readonly starts: boolean
  },
  signal: AbortSignal,
): VolumeImages {
  const images = (pod.spec.volumes ?? []).flatMap(({ name, image }) => {
    if (image === undefined) return []
    const volume = ensureVolume(deps, { pod, ...sandbox, volume: { name, image }, quiet: !starts }, signal)
    volume.catch(() => {})
    return [[name, volume] as const]
  })
  return new Map(images)
}

async function ensureVolume(
  deps: RequestImagesDeps,
  request: Parameters<RequestImagesDeps['images']['ensureVolume']>[0],
  signal: AbortSignal,
): Promise<ImageSpec> {
  const { ref } = await ensure(deps, request, signal)
  const { pod, volume } = request
  return {
    image: ref,
    userSpecifiedImage: volume.image.reference ?? '',
    annotations: { ...pod.metadata.annotations },
    runtimeHandler: '',
    imageRef: '',
  }
}

async function ensure(...[deps, request, signal]: Parameters<typeof ensureVolume>): Promise<LocalImage> {
  try {
    const image = await deps.images.ensureVolume(request, signal)
    deps.metrics.imageVolume(false)
    return image
  } catch (error) {
    if (error instanceof StartError) deps.metrics.imageVolume(true)
    throw error
  }
}

/** The volumes that one container mounts. One that could not be had keeps this container from starting, and no other. */
export async function awaitVolumes(
  deps: RequestImagesDeps,
  {
    pod,
    podContainer,
    images,
  }: { readonly pod: Pod; readonly podContainer: PodContainer; readonly images: VolumeImages },
): Promise<ReadonlyMap<string, ImageSpec>> {
  const { container, kind } = podContainer
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
      deps.events.record(pod, { type: 'Warning', reason: 'Failed', message, fieldPath })
    }
    throw error
  }
}
