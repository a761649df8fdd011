/** When images are removed, and which stay. */
export interface GarbagePolicy {
  /** Disk use in percent from which on images are removed; 100 is never. */
  readonly highPercent: number
  /** Disk use in percent at which removing ends. */
  readonly lowPercent: number
  /** An image stays so long after it was first seen. */
  readonly minimumAgeMs: number
  /** An image that was not used for so long goes, whatever the disk; 0 is never. */
  readonly maximumAgeMs: number
}

/** An image on the node, with what is known of its use. */
export interface KnownImage {
  readonly id: string
  /** The handler of the pods that it is for; empty where images belong to none. */
  readonly runtimeHandler: string
  readonly sizeBytes: number
  readonly pinned: boolean
  /** By a container that is there, running or not, or by a volume. */
  readonly inUse: boolean
  readonly firstSeenAt: number
  /** Undefined when no use was ever seen. */
  readonly lastUsedAt: number | undefined
}

interface DiskSpace {
  readonly capacityBytes: number
  readonly availableBytes: number
}

/** False when no image could ever be removed. */
export function isCollecting({ highPercent, maximumAgeMs }: GarbagePolicy): boolean {
  return highPercent < 100 || maximumAgeMs > 0
}

/** How full a disk is, in whole percent, rounded up. */
export function computeUsagePercent({ capacityBytes, availableBytes }: DiskSpace): number {
  return 100 - Math.floor((availableBytes * 100) / capacityBytes)
}

/** How many bytes must be freed, so that no more than the lower threshold is used; undefined below the upper one. */
export function computeBytesToFree(
  { highPercent, lowPercent }: Pick<GarbagePolicy, 'highPercent' | 'lowPercent'>,
  space: DiskSpace,
): number | undefined {
  if (computeUsagePercent(space) < highPercent) return undefined
  return Math.floor((space.capacityBytes * (100 - lowPercent)) / 100) - space.availableBytes
}

/** The images that may be removed now, those that were not needed for the longest time first. */
export function computeRemovable(
  images: readonly KnownImage[],
  minimumAgeMs: number,
  now: number,
): readonly KnownImage[] {
  return images
    .filter((image) => isUnused(image, now) && now - image.firstSeenAt >= minimumAgeMs)
    .toSorted((a, b) => (a.lastUsedAt ?? 0) - (b.lastUsedAt ?? 0) || a.firstSeenAt - b.firstSeenAt)
}

/** The images that were not used for too long. Before the agent itself ran that long it cannot know. */
export function computeExpired(
  images: readonly KnownImage[],
  maximumAgeMs: number,
  { now, startedAt }: { readonly now: number; readonly startedAt: number },
): readonly KnownImage[] {
  if (maximumAgeMs === 0 || now - startedAt <= maximumAgeMs) return []
  return images.filter((image) => isUnused(image, now) && now - (image.lastUsedAt ?? image.firstSeenAt) > maximumAgeMs)
}

/** An image that was used since now, when the pass began, may be about to get its container. */
function isUnused({ pinned, inUse, lastUsedAt }: KnownImage, now: number): boolean {
  return !pinned && !inUse && (lastUsedAt === undefined || lastUsedAt < now)
}

/** A number of bytes in the largest unit that fits, with one digit. */
export function formatSize(bytes: number): string {
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length, bytes < 1024 ? 0 : Math.floor(Math.log2(bytes) / 10))
  return power === 0 ? `${bytes} B` : `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1]}`
}
