import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'

/** What a package of Debian's has, as it is installed. Everything belongs to root. */
export type DebianFile =
  | { readonly path: string; readonly mode: number; readonly content: string | Uint8Array }
  | { readonly path: string; readonly mode: number; readonly copyOf: string }
  | { readonly path: string; readonly target: string }
  | { readonly path: string; readonly mode: number; readonly kind: 'folder' }

export interface DebianPackage {
  /** The fields of its control file, in their order. */
  readonly control: Readonly<Record<string, string>>
  readonly files: readonly DebianFile[]
  /** Run by dpkg: preinst, postinst, prerm, postrm. */
  readonly scripts: Readonly<Record<string, string>>
}

interface BuildOptions {
  /** A folder for files on the way. */
  readonly work: string
  /** Where the package goes, under the name that Debian gives it. */
  readonly folder: string
  /** The time that files get which are made now, in seconds since the epoch. */
  readonly epoch: number
  readonly compression: 'xz' | 'none'
}

/** Writes a package with dpkg-deb and returns its path. The same content and time make the same bytes. */
export function buildDebianPackage(wanted: DebianPackage, options: BuildOptions): string {
  const { work, folder, epoch, compression } = options
  const { Package: name = '', Version: version = '', Architecture: architecture = '' } = wanted.control
  const tree = join(work, name)
  rmSync(tree, { recursive: true, force: true })
  for (const file of wanted.files) put(tree, file)
  putControl(tree, wanted)
  const output = join(folder, `${name}_${version}_${architecture}.deb`)
  execFileSync('dpkg-deb', ['--root-owner-group', `-Z${compression}`, '--build', tree, output], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return output
}

function put(tree: string, file: DebianFile): void {
  const path = join(tree, file.path)
  makeFolder(dirname(path))
  if ('target' in file) return symlinkSync(file.target, path)
  if ('kind' in file) makeFolder(path)
  else if ('copyOf' in file) copyFileSync(file.copyOf, path)
  else writeFileSync(path, file.content)
  chmodSync(path, file.mode)
}

/** With the mode that Debian wants, whatever the umask. */
function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) chmodSync(made, 0o755)
}

function putControl(tree: string, { control, files, scripts }: DebianPackage): void {
  const plain = files.filter((file) => !('target' in file) && !('kind' in file)).map(({ path }) => path)
  const kibibytes = Math.ceil(plain.reduce((sum, path) => sum + statSync(join(tree, path)).size, 0) / 1024)
  const fields = Object.entries({ ...control, 'Installed-Size': String(kibibytes) })
  const sums = plain
    .filter((path) => !path.startsWith('/etc/'))
    .map((path) => `${hash(join(tree, path))}  ${path.slice(1)}\n`)
    .toSorted()
  // dpkg asks before it replaces one of these that was changed.
  const configuration = plain.filter((path) => path.startsWith('/etc/'))
  const lines: Readonly<Record<string, string>> = {
    control: fields.map(([name, value]) => `${name}: ${value}\n`).join(''),
    md5sums: sums.join(''),
    conffiles: configuration.map((path) => `${path}\n`).join(''),
  }
  for (const [name, content] of Object.entries(lines))
    if (content !== '') put(tree, { path: `/DEBIAN/${name}`, mode: 0o644, content })
  for (const [name, content] of Object.entries(scripts)) put(tree, { path: `/DEBIAN/${name}`, mode: 0o755, content })
}

/** dpkg finds changed files by it, it protects from nothing. */
function hash(path: string): string {
  return createHash('md5').update(readFileSync(path)).digest('hex')
}
