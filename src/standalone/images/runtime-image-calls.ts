/** The calls of the runtime that the commands about images need. */
export interface RuntimeImageCalls {
  version(request: { version: string }, signal: AbortSignal): Promise<{ readonly runtimeName: string }>
  listImages(request: object, signal: AbortSignal): Promise<{ readonly images: readonly RuntimeImage[] }>
  listContainers(request: object, signal: AbortSignal): Promise<{ readonly containers: readonly ImageContainer[] }>
  pullImage(request: PullRequest, signal: AbortSignal): Promise<{ readonly imageRef: string }>
  removeImage(request: { image: ImageSpec }, signal: AbortSignal): Promise<unknown>
  /** What the runtime downloads now; fails where it does not report that. */
  containerdDownloads(signal: AbortSignal): Promise<readonly Download[]>
}

interface ImageSpec {
  readonly image: string
  readonly annotations: Record<string, string>
}

interface PullRequest {
  readonly image: ImageSpec
  readonly auth?: { readonly username: string; readonly password: string } | undefined
}

interface Download {
  readonly ref: string
  readonly startedAt: number
  readonly doneBytes: number
  readonly totalBytes: number
}

/** An image as the runtime lists it. */
export interface RuntimeImage {
  readonly id: string
  readonly repoTags: readonly string[]
  readonly repoDigests: readonly string[]
  readonly size: bigint
}

/** A container, as far as it uses an image. */
export interface ImageContainer {
  readonly image?: { readonly image: string } | undefined
  readonly imageRef: string
  readonly imageId: string
  readonly labels: Readonly<Record<string, string>>
}

/** All names of an image. */
export function imageNamesOf({ id, repoTags, repoDigests }: RuntimeImage): readonly string[] {
  return [id, ...repoTags, ...repoDigests]
}

/** The pods whose containers have the image, as <namespace>/<name>. */
export function findUsers(image: RuntimeImage, containers: readonly ImageContainer[]): readonly string[] {
  const names = new Set(imageNamesOf(image))
  const users = containers.filter(({ image: spec, imageRef, imageId }) =>
    [spec?.image ?? '', imageRef, imageId].some((name) => names.has(name)),
  )
  const pods = users.map(
    ({ labels }) => `${labels['io.kubernetes.pod.namespace'] ?? ''}/${labels['io.kubernetes.pod.name'] ?? ''}`,
  )
  return [...new Set(pods)].toSorted()
}
