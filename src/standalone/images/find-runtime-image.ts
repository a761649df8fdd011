import type { Pod } from '../../model/generated/core-v1.ts'
import { ImageNameError, toFullName } from '../../model/pod/parse-image-name.ts'
import { exitCodes, NodeError } from '../node/node-error.ts'
import { imageNamesOf } from './runtime-image-calls.ts'
import type { RuntimeImage } from './runtime-image-calls.ts'

/** By name, or by the beginning of its ID. */
export function findRuntimeImage(images: readonly RuntimeImage[], name: string): RuntimeImage {
  const exact = images.find((image) => imageNamesOf(image).includes(name))
  if (exact !== undefined) return exact
  const byId = /^[0-9a-f]{6,64}$/.test(name) ? images.filter(({ id }) => id.startsWith(`sha256:${name}`)) : []
  const full = byId.length === 0 ? checkName(name, toFullName) : name
  const [found, ...others] = byId.length > 0 ? byId : images.filter((image) => hasName(image, full))
  if (found !== undefined && others.length === 0) return found
  const why = found === undefined ? 'there is no such image' : 'several images have an ID that begins like this'
  throw new NodeError(`Cannot find "${name}": ${why}; "deckhand images ls" lists all`, exitCodes.failed)
}

function hasName(image: RuntimeImage, full: string): boolean {
  return [...image.repoTags, ...image.repoDigests].some((name) => name === full || tryFullName(name) === full)
}

/** The tag of the image that is meant by a name; undefined when the name is an ID or a digest. */
export function findTag({ repoTags }: RuntimeImage, asked: string): string | undefined {
  return repoTags.find((name) => name === asked || tryFullName(name) === tryFullName(asked))
}

/** The pods that ask for an image by this tag, as <namespace>/<name>: without it they would not start again. */
export function findAskers(tag: string, pods: readonly Pod[]): readonly string[] {
  const askers = pods.filter(({ spec }) =>
    [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].some(
      ({ image = '' }) => image === tag || tryFullName(image) === tag,
    ),
  )
  return askers.map(({ metadata }) => `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`).toSorted()
}

/** A name that the archive is to have: one with a tag, where the image has any. */
export function toSavedName({ repoTags, repoDigests, id }: RuntimeImage, asked: string): string {
  const names = [...repoTags, ...repoDigests]
  return names.find((name) => name === asked || name === tryFullName(asked)) ?? names[0] ?? id
}

/** The name as the function makes it; a wrong one is an error for the user. */
export function checkName(name: string, parse: (text: string) => string): string {
  try {
    return parse(name)
  } catch (cause) {
    if (!(cause instanceof ImageNameError)) throw cause
    throw new NodeError(`Cannot use "${name}" as an image: ${cause.message}`, exitCodes.wrongArguments, { cause })
  }
}

/** Undefined for what is no name, such as an ID. */
function tryFullName(name: string): string | undefined {
  try {
    return toFullName(name)
  } catch {
    return undefined
  }
}
