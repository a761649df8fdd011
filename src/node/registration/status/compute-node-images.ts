import type { ContainerImage } from '../../../model/generated/core-v1.ts'
import type { ImageInfo } from './node-info.ts'

const MOST_NAMES = 5

/** The images that a scheduler may count on: the largest first, since they save the most. */
export function computeNodeImages(images: readonly ImageInfo[], maxImages: number): readonly ContainerImage[] {
  const sorted = [...images].sort((a, b) => (a.size === b.size ? (a.id < b.id ? 1 : -1) : a.size < b.size ? 1 : -1))
  return (maxImages < 0 ? sorted : sorted.slice(0, maxImages)).map(({ repoDigests, repoTags, size }) => ({
    names: [...repoDigests, ...repoTags].slice(0, MOST_NAMES),
    sizeBytes: Number(size),
  }))
}
