/** The parts of an image's name that Docker wants apart. */
export interface ImageReference {
  readonly repository: string
  /** A tag, or a digest with its algorithm. */
  readonly version: string
}

const DEFAULT_DOMAIN = 'docker.io'
const OFFICIAL = 'library'

/** Splits a name. One without tag has the tag "latest": with none at all Docker would pull every tag there is. */
export function parseImageReference(name: string): ImageReference {
  const at = name.indexOf('@')
  if (at !== -1) return { repository: dropTag(name.slice(0, at)), version: name.slice(at + 1) }
  const repository = dropTag(name)
  return { repository, version: name.length > repository.length ? name.slice(repository.length + 1) : 'latest' }
}

/** A colon behind the last slash begins a tag, any other the port of a registry. */
function dropTag(name: string): string {
  const colon = name.lastIndexOf(':')
  return colon > name.lastIndexOf('/') ? name.slice(0, colon) : name
}

/** The name with domain and tag, by which names are compared. */
export function normalImageName(name: string): string {
  const { repository, version } = parseImageReference(name)
  const [first = '', ...rest] = repository.split('/')
  const hasDomain = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  const path = hasDomain ? rest.join('/') : repository
  const domain = hasDomain ? first : DEFAULT_DOMAIN
  const full = domain === DEFAULT_DOMAIN && !path.includes('/') ? `${OFFICIAL}/${path}` : path
  return `${domain}/${full}${version.includes(':') ? '@' : ':'}${version}`
}

/** True for an id and not a name: 64 hex digits, mostly behind "sha256:". */
export function isImageId(name: string): boolean {
  return /^(sha256:)?[0-9a-f]{64}$/.test(name)
}

/** Does one of the names of an image mean the same as this one? Docker also takes a name for the beginning of an id. */
export function hasImageName(
  name: string,
  { tags, digests }: { readonly tags: readonly string[]; readonly digests: readonly string[] },
): boolean {
  const normal = normalImageName(name)
  return [...tags, ...digests].some((known) => normalImageName(known) === normal)
}
