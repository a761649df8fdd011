/** An image name that no registry could have. */
export class ImageNameError extends Error {
  override readonly name = 'ImageNameError'
}

const HOST =
  /^(?:\[[0-9A-Fa-f:]+\]|[0-9A-Za-z](?:[0-9A-Za-z-]*[0-9A-Za-z])?(?:\.[0-9A-Za-z](?:[0-9A-Za-z-]*[0-9A-Za-z])?)*)(?::[0-9]+)?$/
const PATH_PART = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}$/
// The digests of known algorithms are lower case and of one length.
const KNOWN_DIGESTS: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 }
const BARE_ID = /^[0-9a-f]{64}$/
const LONGEST_PATH = 255
const LONGEST_NAME = 4096
const DEFAULT_REGISTRY = 'docker.io'

/**
 * Checks an image name and completes it with the tag "latest" when it has neither tag nor digest. The registry is not added: which one
 * a short name means is the runtime's choice.
 */
export function parseImageName(text: string): string {
  if (text.length > LONGEST_NAME) throw invalid(`it is longer than ${LONGEST_NAME} characters`)
  if (BARE_ID.test(text)) throw invalid('64 hexadecimal digits are an image ID, expected a repository name')
  const [named, digest] = splitAt(text, text.indexOf('@'))
  if (digest !== undefined) checkDigest(digest)
  const colon = named.lastIndexOf(':')
  const [repository, tag] = splitAt(named, colon > named.lastIndexOf('/') ? colon : -1)
  if (tag !== undefined && !TAG.test(tag)) {
    throw invalid(
      `tag "${tag}" must be 1 to 128 letters, digits, "_", "." and "-", and begin with none of the last two`,
    )
  }
  checkRepository(repository)
  return tag === undefined && digest === undefined ? `${text}:latest` : text
}

/**
 * The repository of a complete image name, as credentials are found: without tag and digest, with the registry and the folder that a
 * short name stands for, such as docker.io/library/nginx.
 */
export function toRepository(image: string): string {
  const [named] = splitAt(image, image.indexOf('@'))
  const colon = named.lastIndexOf(':')
  const [repository] = splitAt(named, colon > named.lastIndexOf('/') ? colon : -1)
  const { host, path } = splitHost(repository)
  if (host !== undefined && host !== 'index.docker.io' && host !== DEFAULT_REGISTRY) return repository
  return `${DEFAULT_REGISTRY}/${path.includes('/') ? path : `library/${path}`}`
}

/** An image name as runtimes list it: complete, and with its registry. */
export function toFullName(image: string): string {
  const complete = parseImageName(image)
  const [named, digest] = splitAt(complete, complete.indexOf('@'))
  const colon = named.lastIndexOf(':')
  const tag = colon > named.lastIndexOf('/') ? named.slice(colon) : ''
  return toRepository(complete) + (digest === undefined ? tag : `@${digest}`)
}

function checkRepository(repository: string): void {
  const { host, path } = splitHost(repository)
  if (host !== undefined && !HOST.test(host)) throw invalid(`"${host}" is not a registry host`)
  if (path === '') throw invalid('repository name must have at least one component')
  if (path !== path.toLowerCase()) throw invalid(`repository name (${path}) must be lowercase`)
  if (path.length > LONGEST_PATH) throw invalid(`repository name must not be more than ${LONGEST_PATH} characters`)
  const bad = path.split('/').find((part) => !PATH_PART.test(part))
  if (bad !== undefined) {
    throw invalid(
      `"${bad}" in repository name (${path}) must be letters and digits, with single separators between them`,
    )
  }
}

/** The first part is a registry when it cannot be a part of a path: it has a dot, a port or capitals, or is localhost. */
function splitHost(repository: string): { readonly host: string | undefined; readonly path: string } {
  const [first, rest] = splitAt(repository, repository.indexOf('/'))
  const isHost = rest !== undefined && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase())
  return isHost ? { host: first, path: rest } : { host: undefined, path: repository }
}

function checkDigest(digest: string): void {
  if (!DIGEST.test(digest)) throw invalid(`"${digest}" is not a digest, expected <algorithm>:<hexadecimal digits>`)
  const [algorithm, hex = ''] = splitAt(digest, digest.indexOf(':'))
  const length = Object.hasOwn(KNOWN_DIGESTS, algorithm) ? KNOWN_DIGESTS[algorithm] : undefined
  if (length === undefined) throw invalid(`unsupported digest algorithm "${algorithm}"`)
  if (hex.length !== length || hex !== hex.toLowerCase()) {
    throw invalid(`a ${algorithm} digest must have ${length} lower-case hexadecimal digits`)
  }
}

function splitAt(text: string, index: number): [string, string | undefined] {
  return index === -1 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)]
}

function invalid(why: string): ImageNameError {
  return new ImageNameError(`invalid reference format: ${why}`)
}
