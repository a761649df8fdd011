/** What is in the bundle besides our own code: found by the files that went into it, described by the lock file and the packages themselves. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface LockedPackage {
  readonly version: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
}

interface Package extends LockedPackage {
  readonly name: string
  /** Licences and notices, word by word. */
  readonly texts: readonly string[]
}

const FOLDER = 'node_modules/'
const LICENCE_FILE = /^(?:licen[cs]e|notice|copying|copyrightnotice)/i
const COMMENT = /^(?:\/\/.*\n)+|^\/\*[^]*?\*\//

/** The packages that these files of a bundle (paths below the root) belong to, by name. */
export function findPackages(root: string, inputs: readonly string[]): readonly Package[] {
  const { packages } = readJson(root, 'package-lock.json') as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  const files = Map.groupBy(
    inputs.filter((path) => path.startsWith(FOLDER)),
    (path) => folderOf(path, packages),
  )
  return [...files]
    .map(([folder, paths]) => {
      const locked = packages[folder]
      if (locked === undefined) throw new Error(`Cannot find "${folder}" in the lock file`)
      return { ...locked, name: nameOf(folder), texts: readLicences(root, folder, paths) }
    })
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version))
}

/** The packages in the bundle and those that the lock file has for the programs beside it (Node itself), as CycloneDX. The same content makes the same text. */
export function toSbom(root: string, bundled: readonly Package[]): string {
  const { name, version } = readJson(root, 'package.json') as { readonly name: string; readonly version: string }
  const { packages } = readJson(root, 'package-lock.json') as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  const beside = Object.entries(packages).flatMap(([path, locked]) =>
    path === '' || locked.dev === true ? [] : [{ ...locked, name: nameOf(path) }],
  )
  const components = [
    ...new Map([...bundled, ...beside].map((each) => [`${each.name}@${each.version}`, each])).values(),
  ]
  const metadata = { component: { type: 'application', name, version, 'bom-ref': `${name}@${version}` } }
  const sbom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata,
    components: components.map(toComponent),
  }
  return `${JSON.stringify(sbom, undefined, 2)}\n`
}

/** The licences of what is in the bundle, as they ask for. */
export function toNotices(bundled: readonly Package[]): string {
  const intro = 'This program contains the following packages. Their licences and notices follow.\n'
  const sections = bundled.map(
    ({ name, version, license = 'see below', texts }) => `${name} ${version} (${license})\n\n${texts.join('\n\n')}`,
  )
  return `${[intro, ...sections].join(`\n${'='.repeat(80)}\n\n`)}\n`
}

/** The folder of the innermost package that a file is in. */
function folderOf(path: string, packages: Readonly<Record<string, LockedPackage>>): string {
  const parts = path.split('/')
  const folders = parts.map((_, index) => parts.slice(0, index).join('/'))
  return folders.findLast((folder) => folder !== '' && folder in packages) ?? path
}

/** Its files of that name; a package without one says it at the top of its sources. */
function readLicences(root: string, folder: string, paths: readonly string[]): readonly string[] {
  const files = readdirSync(join(root, folder)).filter((name) => LICENCE_FILE.test(name))
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const texts =
    files.length > 0
      ? files.toSorted().map((name) => read(join(folder, name)))
      : paths.map((path) => COMMENT.exec(read(path))?.[0].replaceAll(/^\/\/ ?/gm, '') ?? '')
  const unique = new Set(texts.map((text) => text.trim()).filter((text) => text !== ''))
  if (unique.size === 0)
    throw new Error(`Cannot find the licence of "${folder}": it has no such file, and its sources do not name it`)
  return [...unique]
}

function toComponent({ name, version, integrity = '', license }: Omit<Package, 'texts'>) {
  const [, algorithm, digest = ''] = /^(sha512)-(\S+)$/.exec(integrity) ?? []
  const content = Buffer.from(digest, 'base64').toString('hex')
  return {
    type: 'library',
    'bom-ref': `${name}@${version}`,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(algorithm === undefined ? {} : { hashes: [{ alg: 'SHA-512', content }] }),
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf(FOLDER) + FOLDER.length)
}

function readJson(root: string, name: string): unknown {
  return JSON.parse(readFileSync(join(root, name), 'utf8'))
}
