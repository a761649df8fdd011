import type { Clock } from '../../../base/async/clock.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { FileSystemSpace } from '../../../system/files/file-system-space.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { NodeEvents } from '../../../model/events/node-events.ts'
import {
  computeBytesToFree,
  computeExpired,
  computeRemovable,
  computeUsagePercent,
  formatSize,
} from './compute-image-garbage.ts'
import type { GarbagePolicy, KnownImage } from './compute-image-garbage.ts'
import type { ImageMetrics } from '../../../metrics/image-metrics.ts'
import { imageKey, ImageUses } from './image-uses.ts'
import type { ImageUsesDeps } from './image-uses.ts'

export interface ImageCollectorDeps extends ImageUsesDeps {
  readonly calls: ImageUsesDeps['calls'] & Pick<CriCalls, 'imageFsInfo' | 'removeImage'>
  readonly policy: GarbagePolicy
  readonly readSpace: (path: string) => Promise<FileSystemSpace>
  /** Gets the images that are still there, after a pass that began then. */
  readonly onRemaining: (refs: ReadonlySet<string>, passBeganAt: number) => Promise<void>
  readonly events: NodeEvents
  readonly metrics?: ImageMetrics
  readonly clock: Clock
  readonly log: Logger
}

/** Not enough room could be made. */
class ImageGarbageError extends Error {
  override readonly name = 'ImageGarbageError'
}

interface ListedImage extends KnownImage {
  readonly names: readonly string[]
}

interface Removal {
  /** All that are there; what is removed is taken out. */
  readonly images: Map<string, KnownImage>
  readonly image: KnownImage
  /** When the pass began. */
  readonly now: number
  readonly reason: 'age' | 'space'
}

/** Removes unused images when the disk is nearly full or they are old. */
export class ImageCollector {
  readonly #deps: ImageCollectorDeps
  readonly #uses: ImageUses
  readonly #startedAt: number

  constructor(deps: ImageCollectorDeps) {
    this.#deps = deps
    this.#uses = new ImageUses(deps)
    this.#startedAt = deps.clock.monotonic()
  }

  /** A pod is about to use this image. */
  note(ref: string): void {
    this.#uses.note(ref, this.#deps.clock.monotonic())
  }

  /** Takes in which images there are, and removes none. */
  async observe(signal: AbortSignal): Promise<void> {
    await this.#uses.observe(this.#deps.clock.monotonic(), signal)
  }

  /** All images of the node with their names, read now, and since when they are known. Times are those of the monotonic clock. */
  async list(signal: AbortSignal): Promise<readonly ListedImage[]> {
    const images = await this.#uses.observe(this.#deps.clock.monotonic(), signal)
    return images.map((image) => ({ ...image, names: this.#uses.namesOf(image) }))
  }

  /** One pass by age and by room; fails when there is still too little room after it. */
  async collect(signal: AbortSignal): Promise<void> {
    const { policy, clock, onRemaining } = this.#deps
    // Ages are counted by the monotonic clock; records have the time of day.
    const [now, beganAt] = [clock.monotonic(), clock.now()]
    const images = await this.#observeAll(now, signal)
    const remove = (image: KnownImage) => this.#remove({ images, image, now, reason: 'space' }, signal)
    for (const image of computeExpired([...images.values()], policy.maximumAgeMs, { now, startedAt: this.#startedAt }))
      await this.#remove({ images, image, now, reason: 'age' }, signal)
    try {
      await this.#makeRoom(images, remove, now, signal)
    } finally {
      await onRemaining(new Set([...images.values()].map(({ id }) => id)), beganAt)
    }
  }

  /** Removes all that is unused, however much room there is: the node is short of it. Those that just came may be about to be used. */
  async collectUnused(signal: AbortSignal): Promise<void> {
    const { policy, clock, onRemaining } = this.#deps
    // Ages are counted by the monotonic clock; records have the time of day.
    const [now, beganAt] = [clock.monotonic(), clock.now()]
    const images = await this.#observeAll(now, signal)
    for (const image of computeRemovable([...images.values()], policy.minimumAgeMs, now))
      await this.#remove({ images, image, now, reason: 'space' }, signal)
    await onRemaining(new Set([...images.values()].map(({ id }) => id)), beganAt)
  }

  async #observeAll(now: number, signal: AbortSignal): Promise<Map<string, KnownImage>> {
    return new Map((await this.#uses.observe(now, signal)).map((image) => [imageKey(image), image]))
  }

  async #makeRoom(
    images: ReadonlyMap<string, KnownImage>,
    remove: (image: KnownImage) => Promise<number>,
    now: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { policy, events, log } = this.#deps
    if (policy.highPercent >= 100) return
    const space = await this.#readSpace(signal)
    if (space.capacityBytes === 0) {
      const message = 'invalid capacity 0 on image filesystem'
      events.record({ type: 'Warning', reason: 'InvalidDiskCapacity', message })
      throw new ImageGarbageError(message)
    }
    const wanted = computeBytesToFree(policy, space)
    if (wanted === undefined) return
    const usagePercent = computeUsagePercent(space)
    log.info('disk is nearly full, removing images', { usagePercent, ...policy, wantedBytes: wanted })
    let freed = 0
    for (const image of computeRemovable([...images.values()], policy.minimumAgeMs, now)) {
      if (freed >= wanted) break
      freed += await remove(image)
    }
    if (freed >= wanted) return
    const message = `Insufficient free disk space on the node's image filesystem (${usagePercent}% of ${formatSize(space.capacityBytes)} used). Failed to free sufficient space by deleting unused images (freed ${freed} bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.`
    events.record({ type: 'Warning', reason: 'FreeDiskSpaceFailed', message })
    throw new ImageGarbageError(message)
  }

  /** The bytes that were freed. An image that cannot be removed is logged and left. */
  async #remove({ images, image, now, reason }: Removal, signal: AbortSignal): Promise<number> {
    const { calls, events, metrics, log } = this.#deps
    const { id, runtimeHandler, sizeBytes } = image
    const key = imageKey(image)
    if (id === '') {
      const message = `ImageID is not valid, skipping, image: ${key}`
      events.record({ type: 'Warning', reason: 'InvalidImageID', message })
      return 0
    }
    // A pod that asked for it since the pass began relies on it.
    if (!images.has(key) || this.#uses.notedAt(image) >= now) return 0
    try {
      await calls.removeImage({ image: { image: id, runtimeHandler } }, signal)
    } catch (error) {
      signal.throwIfAborted()
      log.warn('cannot remove an image', { image: id, error })
      return 0
    }
    images.delete(key)
    metrics?.imageCollected(reason)
    log.info('removed an unused image', { image: id, sizeBytes, lastUsedAt: image.lastUsedAt })
    return sizeBytes
  }

  async #readSpace(signal: AbortSignal): Promise<FileSystemSpace> {
    const { imageFilesystems } = await this.#deps.calls.imageFsInfo({}, signal)
    const path = imageFilesystems[0]?.fsId?.mountpoint ?? ''
    if (path === '') throw new ImageGarbageError('Cannot find the file system of images: the runtime names none')
    return await this.#deps.readSpace(path)
  }
}
