import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where this machine gets its Debian packages from. */
export interface PackageSource {
  readonly uri: string
  /** The keys that sign its lists; undefined: those that apt trusts anyway. */
  readonly signedBy?: string
}

interface SourceEntry extends PackageSource {
  readonly suites: readonly string[]
}

/** The machine's own mirror of Debian: the first source of packages of the release that it runs; undefined where there is none. */
export function readPackageSource(codename: string, folder = '/etc/apt'): PackageSource | undefined {
  const parts = join(folder, 'sources.list.d')
  const files = [join(folder, 'sources.list'), ...list(parts).map((name) => join(parts, name))]
  const entries = files.flatMap((file) => {
    const text = read(file)
    return file.endsWith('.sources') ? parseStanzas(text) : parseLines(text)
  })
  const found = entries.find(({ suites }) => suites.includes(codename))
  if (found === undefined) return undefined
  return { uri: found.uri, ...(found.signedBy === undefined ? {} : { signedBy: found.signedBy }) }
}

/** The form of one line for each source: deb [options] URI SUITE COMPONENT… */
export function parseLines(text: string): readonly SourceEntry[] {
  return text.split('\n').flatMap((line): readonly SourceEntry[] => {
    const [, options = '', uri, suite] = /^\s*deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)/.exec(line) ?? []
    if (uri === undefined || suite === undefined) return []
    const signedBy = /(?:^|\s)signed-by=(\S+)/i.exec(options)?.[1]
    return [{ uri, suites: [suite], ...(signedBy === undefined ? {} : { signedBy }) }]
  })
}

/** The form with a paragraph of fields for each source. */
export function parseStanzas(text: string): readonly SourceEntry[] {
  return text.split(/\n\s*\n/).flatMap((stanza): readonly SourceEntry[] => {
    const lines = stanza.split('\n').filter((line) => !line.startsWith('#'))
    const field = (name: string) =>
      lines
        .find((line) => line.toLowerCase().startsWith(`${name}:`))
        ?.slice(name.length + 1)
        .trim()
    const [uri] = (field('uris') ?? '').split(/\s+/)
    const suites = (field('suites') ?? '').split(/\s+/)
    const isForPackages = (field('types') ?? '').split(/\s+/).includes('deb') && field('enabled') !== 'no'
    if (uri === undefined || uri === '' || !isForPackages) return []
    const signedBy = field('signed-by')
    // A key in the paragraph itself goes over several lines; apt's own keys have to do then.
    const isFile = signedBy?.startsWith('/') === true
    return [{ uri, suites, ...(isFile ? { signedBy } : {}) }]
  })
}

/** The name of the Debian release that this machine runs, such as "bookworm"; "" where it is not Debian. */
export function readCodename(file = '/etc/os-release'): string {
  const text = read(file)
  if (!/^ID="?debian"?$/m.test(text)) return ''
  return /^VERSION_CODENAME="?(\w+)"?$/m.exec(text)?.[1] ?? ''
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /\.(list|sources)$/.test(name))
      .sort()
  } catch {
    return []
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
