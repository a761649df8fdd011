import { CriCallError } from '../../cri/cri-call-error.ts'
import type { CriRequest, CriResponse } from '../../cri/cri-methods.ts'
import { AuthConfig } from '../../cri/generated/runtime-v1.ts'
import { hasApi } from '../api/api-version.ts'
import { unlessMissing } from '../api/docker-error.ts'
import type { InspectedContainer, InspectedImage, ListedImage } from '../api/docker-types.ts'
import type { DockerDeps } from '../docker-deps.ts'
import { hasImageName, isImageId } from '../read/image-reference.ts'
import type { ImageNames } from '../read/to-container.ts'
import { namesOf, toImage } from '../read/to-image.ts'
import { pullReference } from './pull-image.ts'

const SHARED_SIZE_SINCE = '1.42'

/** An image by name, digest or id; undefined when there is none. */
export async function findImage(
  { api }: Pick<DockerDeps, 'api'>,
  name: string,
  signal: AbortSignal,
): Promise<InspectedImage | undefined> {
  if (name === '') return undefined
  const path = `/images/${encodeURIComponent(name)}/json`
  const image = await unlessMissing(api.json<InspectedImage>({ method: 'GET', path }, signal))
  if (image === undefined || isImageId(name)) return image
  // Docker also takes a name for the beginning of an id.
  return hasImageName(name, namesOf(image)) ? image : undefined
}

/** The image of sandboxes. Where Docker has none, one is pulled. */
export async function findPauseImage(deps: DockerDeps, signal: AbortSignal): Promise<string> {
  let name = ''
  for (name of deps.pauseImages) if ((await findImage(deps, name, signal)) !== undefined) return name
  deps.log.info('pulling the image of sandboxes', { image: name })
  const logins = await deps.sandboxLogins(name)
  const auths = logins.length === 0 ? [undefined] : logins.map((login) => AuthConfig.fromPartial(login))
  await pullWithAny(deps, name, auths, signal)
  return name
}

/** By the first login that the registry takes; what it said to the last one is the reason. */
async function pullWithAny(
  deps: DockerDeps,
  name: string,
  [auth, ...others]: readonly (AuthConfig | undefined)[],
  signal: AbortSignal,
): Promise<void> {
  try {
    await pullReference(deps, { name, auth }, signal)
  } catch (error) {
    if (signal.aborted || others.length === 0) throw error
    await pullWithAny(deps, name, others, signal)
  }
}

/** What a container calls its image: a tag where there is one, and what cannot change. */
export async function readImageNames(
  deps: DockerDeps,
  { Image: id, Config: config }: InspectedContainer,
  signal: AbortSignal,
): Promise<ImageNames> {
  const image = await findImage(deps, id, signal)
  const { tags, digests } = image === undefined ? { tags: [], digests: [] } : namesOf(image)
  return { name: tags[0] ?? config.Image, ref: digests[0] ?? id }
}

export async function listImages(
  { api, pauseImages }: DockerDeps,
  { filter }: CriRequest<'listImages'>,
  signal: AbortSignal,
): Promise<CriResponse<'listImages'>> {
  const name = filter?.image?.image ?? ''
  const query = name === '' ? {} : { filters: JSON.stringify({ reference: [name] }) }
  const listed = await api.json<readonly ListedImage[]>({ method: 'GET', path: '/images/json', query }, signal)
  return { images: listed.map((image) => toImage(image, pauseImages)) }
}

export async function imageStatus(
  deps: DockerDeps,
  { image }: CriRequest<'imageStatus'>,
  signal: AbortSignal,
): Promise<CriResponse<'imageStatus'>> {
  const found = await findImage(deps, image?.image ?? '', signal)
  return { image: found && toImage(found, deps.pauseImages), info: {} }
}

/** Answers with the id of the image, by which it is found whatever happens to its names. */
export async function pullImage(
  deps: DockerDeps,
  { image, auth }: CriRequest<'pullImage'>,
  signal: AbortSignal,
): Promise<CriResponse<'pullImage'>> {
  const name = image?.image ?? ''
  await pullReference(deps, { name, auth }, signal)
  const pulled = await findImage(deps, name, signal)
  if (pulled === undefined) throw new CriCallError('pullImage', 'NotFound', `failed to pull image "${name}": not found`)
  return { imageRef: pulled.Id }
}

/** Removes all names of an image and so the image. */
export async function removeImage(
  deps: DockerDeps,
  { image }: CriRequest<'removeImage'>,
  signal: AbortSignal,
): Promise<CriResponse<'removeImage'>> {
  const found = await findImage(deps, image?.image ?? '', signal)
  if (found === undefined) return {}
  const { tags, digests } = namesOf(found)
  for (const name of [...tags, ...digests, found.Id]) {
    const path = `/images/${encodeURIComponent(name)}`
    await unlessMissing(deps.api.json({ method: 'DELETE', path }, signal))
  }
  return {}
}

/** Layers that images share are counted once where Docker says which these are. */
export async function imageFsInfo(
  { api, daemon, clock }: DockerDeps,
  _request: CriRequest<'imageFsInfo'>,
  signal: AbortSignal,
): Promise<CriResponse<'imageFsInfo'>> {
  const { DockerRootDir: mountpoint } = await daemon.info(signal)
  const query: Record<string, string> = hasApi(await api.version(signal), SHARED_SIZE_SINCE)
    ? { 'shared-size': '1' }
    : {}
  const images = await api.json<readonly ListedImage[]>({ method: 'GET', path: '/images/json', query }, signal)
  const usage = {
    timestamp: BigInt(clock.now()) * 1_000_000n,
    fsId: { mountpoint },
    usedBytes: { value: BigInt(sumSizes(images)) },
    inodesUsed: undefined,
  }
  return { imageFilesystems: [usage], containerFilesystems: [usage] }
}

function sumSizes(images: readonly ListedImage[]): number {
  const shared = (image: ListedImage) => Math.max(0, image.SharedSize ?? 0)
  const own = images.reduce((sum, image) => sum + image.Size - shared(image), 0)
  return own + Math.max(0, ...images.map((image) => shared(image)))
}
