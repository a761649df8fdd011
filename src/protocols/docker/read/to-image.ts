import { Image } from '../../cri/generated/runtime-v1.ts'
import type { InspectedImage, ListedImage } from '../api/docker-types.ts'
import { normalImageName } from './image-reference.ts'

// What Docker before API 1.43 has in place of a name that is not there.
const NO_NAME = '<none>'

/** The names of an image that are names, in full, as other runtimes report them. */
export function namesOf({ RepoTags: tags, RepoDigests: digests }: Pick<ListedImage, 'RepoTags' | 'RepoDigests'>) {
  const full = (names: readonly string[] | null | undefined) =>
    (names ?? []).filter((name) => !name.includes(NO_NAME)).map((name) => normalImageName(name))
  return { tags: full(tags), digests: full(digests) }
}

/** An image as CRI describes it. The image of sandboxes is pinned: without it no pod starts. */
export function toImage(image: ListedImage | InspectedImage, pauseImages: readonly string[]): Image {
  const { tags, digests } = namesOf(image)
  return Image.fromPartial({
    id: image.Id,
    repoTags: tags,
    repoDigests: digests,
    // CRI has no image without size, and an empty one has none.
    size: BigInt(Math.max(1, image.Size)),
    ...('Config' in image ? toUser(image.Config?.User ?? '') : {}),
    pinned: pauseImages.some((name) => tags.includes(normalImageName(name))),
  })
}

function toUser(text: string): Partial<Image> {
  const [user = ''] = text.split(':')
  if (user === '') return {}
  return /^\d+$/.test(user) ? { uid: { value: BigInt(user) } } : { username: user }
}
