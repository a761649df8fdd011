/** What a keyring holds: something that opens the images below a registry's location. */
export interface KeyringEntry<T> {
  /** As the user wrote it: host[:port][/path], with or without a scheme; host labels may have globs. */
  readonly location: string
  readonly value: T
}

// Where logins to Docker Hub are kept by its own tools, whatever name the registry has in images.
const DEFAULT_REGISTRY_KEY = 'index.docker.io'
const DEFAULT_REGISTRY = 'docker.io/'

/** Everything in a keyring that may open a repository, the most specific location first. */
export function computeCredentials<T>(keyring: readonly KeyringEntry<T>[], repository: string): readonly T[] {
  const keyed = keyring.map(({ location, value }) => ({ key: toRegistryKey(location), value }))
  const matching = keyed.filter(({ key }) => matchesRegistry(key, repository))
  const found =
    matching.length === 0 && repository.startsWith(DEFAULT_REGISTRY)
      ? keyed.filter(({ key }) => key === DEFAULT_REGISTRY_KEY)
      : matching
  // Reverse order puts a longer path before a shorter one, and a glob after the names it stands for.
  return found.toSorted((a, b) => (a.key < b.key ? 1 : a.key > b.key ? -1 : 0)).map(({ value }) => value)
}

/** A location as keyrings compare it: no scheme, no user, no API version in front of the path. */
export function toRegistryKey(location: string): string {
  const [bare = ''] = location.replace(/^https?:\/\//, '').split(/[?#]/)
  const slash = bare.indexOf('/')
  const [authority, path] = slash === -1 ? [bare, ''] : [bare.slice(0, slash), bare.slice(slash)]
  const inside = path.replace(/^\/v[12](?=\/)/, '')
  return authority.slice(authority.lastIndexOf('@') + 1) + (inside === '/' ? '' : inside)
}

/** Does a key open a repository? Same port, the same number of labels in the host, each as its glob says, and the path begins alike. */
export function matchesRegistry(key: string, repository: string): boolean {
  const wanted = splitKey(key)
  const found = splitKey(repository)
  return (
    wanted.port === found.port &&
    wanted.labels.length === found.labels.length &&
    found.path.startsWith(wanted.path) &&
    wanted.labels.every((glob, index) => matchesGlob(glob, found.labels[index] ?? ''))
  )
}

function splitKey(key: string) {
  const slash = key.indexOf('/')
  const [authority, path] = slash === -1 ? [key, ''] : [key.slice(0, slash), key.slice(slash)]
  const [, host = authority, port = ''] = /^(.*):(\d*)$/.exec(authority.endsWith(']') ? '' : authority) ?? []
  return { labels: host.split('.'), port, path }
}

/** Shell globs without classes: * is any text, ? any character. Takes time by the product of both lengths at most. */
function matchesGlob(glob: string, text: string): boolean {
  let [at, next, star, resume] = [0, 0, -1, 0]
  while (next < text.length) {
    if (glob[at] === '*') {
      star = at
      resume = next
      at += 1
    } else if (glob[at] === '?' || glob[at] === text[next]) {
      at += 1
      next += 1
    } else if (star === -1) {
      return false
    } else {
      at = star + 1
      resume += 1
      next = resume
    }
  }
  return /^\**$/.test(glob.slice(at))
}
