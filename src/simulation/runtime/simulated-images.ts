import { createHash } from 'node:crypto'
import { SimulatedFault } from './simulated-fault.ts'
import { Image } from '../../protocols/cri/generated/runtime-v1.ts'

/** The images of a simulated runtime, found by tag, digest reference or id. */
export class SimulatedImages {
  readonly #images = new Map<string, Image>()

  /** Puts an image there as a pull or an import does. */
  add(reference: string, properties: Partial<Image> = {}): Image {
    const id = `sha256:${createHash('sha256').update(reference).digest('hex')}`
    const byDigest = reference.includes('@')
    const image = Image.fromPartial({
      id,
      repoTags: byDigest ? [] : [reference],
      repoDigests: byDigest ? [reference] : [],
      size: 1_000_000n,
      ...properties,
    })
    this.#images.set(image.id, image)
    return image
  }

  find(reference: string): Image | undefined {
    return this.list().find(
      ({ id, repoTags, repoDigests }) =>
        id === reference || repoTags.includes(reference) || repoDigests.includes(reference),
    )
  }

  /** The image, or containerd's error. */
  resolve(reference: string): Image {
    const image = this.find(reference)
    if (image === undefined) throw new SimulatedFault('NotFound', `failed to resolve image "${reference}": not found`)
    return image
  }

  remove(reference: string): void {
    const image = this.find(reference)
    if (image !== undefined) this.#images.delete(image.id)
  }

  list(): Image[] {
    return [...this.#images.values()]
  }
}
