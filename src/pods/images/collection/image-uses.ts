import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { CriResponse } from '../../../protocols/cri/cri-methods.ts'
import { isTooLarge } from '../../../protocols/cri/list-by-pod.ts'
import type { Image } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { KnownImage } from './compute-image-garbage.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { toFullName } from '../../../model/pod/parse-image-name.ts'

export interface ImageUsesDeps {
  readonly calls: Pick<CriCalls, 'listImages' | 'listContainers' | 'status'>
  /** Their volumes have images mounted. */
  readonly desiredPods: () => readonly Pod[]
  /** The runtime keeps an image for each handler that pulled it, and each copy is used or unused by itself. */
  readonly byHandler?: boolean
  /** Images of the containers that were observed: a list of the runtime that is cut short frees none of them. */
  readonly observedImages: () => readonly string[]
}

interface Use {
  readonly names: readonly string[]
  readonly firstSeenAt: number
  readonly lastUsedAt: number | undefined
}

/** Remembers since when each image is on the node and when it was used last. */
export class ImageUses {
  readonly #deps: ImageUsesDeps
  readonly #uses = new Map<string, Use>()
  readonly #ensured = new Map<string, number>()

  constructor(deps: ImageUsesDeps) {
    this.#deps = deps
  }

  /** A container is about to be made of this image. */
  note(ref: string, now: number): void {
    this.#ensured.set(ref, now)
  }

  /** Its tags and digests, as of when it was read last. */
  namesOf(image: Pick<KnownImage, 'id' | 'runtimeHandler'>): readonly string[] {
    return (this.#uses.get(imageKey(image))?.names ?? []).filter((name) => name !== image.id)
  }

  /** When an image was noted last, by any of its names; 0 when it never was. */
  notedAt(image: Pick<KnownImage, 'id' | 'runtimeHandler'>): number {
    return Math.max(0, ...(this.#uses.get(imageKey(image))?.names ?? []).map((name) => this.#ensured.get(name) ?? 0))
  }

  /** All images of the node, read now. */
  async observe(now: number, signal: AbortSignal): Promise<readonly KnownImage[]> {
    const { calls, desiredPods, observedImages } = this.#deps
    const [{ images }, { containers }, sandboxImage] = await Promise.all([
      calls.listImages({}, signal),
      listContainers(calls, signal),
      readSandboxImage(calls, signal),
    ])
    const refs = containers.map(({ imageRef, imageId, image }) => ({
      image,
      ids: [imageRef, imageId, image?.image ?? ''],
    }))
    const used = new Set(
      refs.flatMap(({ image, ids }) => {
        const runtimeHandler = this.#handlerOf(image)
        return ids.map((id) => imageKey({ id, runtimeHandler }))
      }),
    )
    const listed = new Set(refs.flatMap(({ ids }) => ids))
    const unlisted = observedImages().filter((ref) => !listed.has(ref))
    // Of which handler they are is not known: every copy is kept.
    for (const name of [...unlisted, ...desiredPods().flatMap(listVolumeImages).map(toFullName)]) {
      for (const { spec } of images) used.add(imageKey({ id: name, runtimeHandler: this.#handlerOf(spec) }))
    }
    const pinned = sandboxImage === undefined ? [] : [toFullName(sandboxImage)]
    const known = images.map((image) => this.#toKnown(image, { used, pinned }, now))
    this.#forgetOthers(new Set(known.map(imageKey)), new Set(images.flatMap(namesOf)))
    return known
  }

  #toKnown(
    image: Image,
    { used, pinned }: { readonly used: ReadonlySet<string>; readonly pinned: readonly string[] },
    now: number,
  ): KnownImage {
    const own = { id: image.id, runtimeHandler: this.#handlerOf(image.spec) }
    const key = imageKey(own)
    const names = namesOf(image)
    const inUse = names.some((name) => used.has(imageKey({ ...own, id: name })))
    const before = this.#uses.get(key)
    const firstSeenAt = before?.firstSeenAt ?? now
    this.#uses.set(key, { names, firstSeenAt, lastUsedAt: before?.lastUsedAt })
    const latest = Math.max(inUse ? now : 0, before?.lastUsedAt ?? 0, this.notedAt(own))
    const lastUsedAt = latest === 0 ? undefined : latest
    this.#uses.set(key, { names, firstSeenAt, lastUsedAt })
    const isPinned = image.pinned || pinned.some((name) => names.includes(name))
    return { ...own, sizeBytes: Number(image.size), pinned: isPinned, inUse, firstSeenAt, lastUsedAt }
  }

  #handlerOf(spec: { readonly runtimeHandler: string } | undefined): string {
    return this.#deps.byHandler === true ? (spec?.runtimeHandler ?? '') : ''
  }

  #forgetOthers(keys: ReadonlySet<string>, names: ReadonlySet<string>): void {
    for (const key of this.#uses.keys()) if (!keys.has(key)) this.#uses.delete(key)
    for (const ref of this.#ensured.keys()) if (!names.has(ref)) this.#ensured.delete(ref)
  }
}

/** None where the list is too large to be sent: what was observed of pods keeps their images, whatever is listed. */
async function listContainers(
  calls: ImageUsesDeps['calls'],
  signal: AbortSignal,
): Promise<Pick<CriResponse<'listContainers'>, 'containers'>> {
  try {
    return await calls.listContainers({}, signal)
  } catch (error) {
    if (!isTooLarge(error)) throw error
    return { containers: [] }
  }
}

/** What distinguishes images: two handlers may have the same one, each for itself. */
export function imageKey({ id, runtimeHandler }: Pick<KnownImage, 'id' | 'runtimeHandler'>): string {
  return runtimeHandler === '' ? id : `${id},${runtimeHandler}`
}

function namesOf({ id, repoTags, repoDigests }: Image): readonly string[] {
  return [id, ...repoTags, ...repoDigests]
}

/** The image of sandboxes, without which no pod starts. Newer runtimes pin it; containerd 1.6 only reports its name. */
async function readSandboxImage(calls: Pick<CriCalls, 'status'>, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { info } = await calls.status({ verbose: true }, signal)
    const { sandboxImage } = JSON.parse(info['config'] ?? '{}') as { sandboxImage?: unknown }
    return typeof sandboxImage === 'string' && sandboxImage !== '' ? sandboxImage : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** As the pod names them. */
function listVolumeImages({ spec }: Pod): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ image }) => (image?.reference === undefined ? [] : [image.reference]))
}
