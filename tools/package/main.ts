/** "npm run package": writes what users install to out/, each file with its checksum. */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { toExecutableBill, toImageBill } from './bill-of-materials.ts'
import { buildExecutable } from './build-executable.ts'
import { completions } from './completions.ts'
import { buildDebianPackage } from './debian/build-debian-package.ts'
import { debianPackages } from './debian/debian-packages.ts'
import { BASE_LAYER, buildContainerImage } from './image/container-image.ts'
import { manualPages } from './manual-pages.ts'
import { architectures, openNode } from './open-node.ts'
import type { Architecture } from './open-node.ts'
import { stripProgram } from './strip-program.ts'

const root = join(import.meta.dirname, '../..')
const out = join(root, 'out')
const options = readOptions()
const { version } = JSON.parse(read('package.json')) as { version: string }
rmSync(out, { recursive: true, force: true })
mkdirSync(out)
mkdirSync(join(root, '.cache'), { recursive: true })
const work = mkdtempSync(join(root, '.cache/package-'))
try {
  say('npm package')
  // Builds dist first, as "prepack" says.
  execFileSync('npm', ['pack', '--loglevel=error', '--pack-destination', out], { cwd: root, stdio: 'pipe' })
  for (const architecture of options.architectures) await packageFor(architecture)
  writeChecksums()
} finally {
  rmSync(work, { recursive: true })
}

async function packageFor(architecture: Architecture): Promise<void> {
  say(`executable for ${architecture}`)
  const folder = join(work, architecture)
  mkdirSync(folder)
  const node = openNode(root, folder, architecture)
  const stripped = join(folder, 'node')
  copyFileSync(node.path, stripped)
  if (!stripProgram(stripped, node.strip))
    say(`  without ${node.strip} it keeps the names of its functions: 34 MB more`)
  const output = join(out, `deckhand-linux-${architecture}`)
  await buildExecutable({ dist: join(root, 'dist'), work: folder, node: stripped, run: node.run, output })
  const notices = `${read('dist/THIRD-PARTY-LICENSES.txt')}\n${'='.repeat(80)}\n\n${node.licence}`
  const texts = new Map([...manualPages(version), ...completions()])
  // Node of another architecture has the same version, and is made of the same.
  const billOfMaterials = toExecutableBill(read('dist/sbom.cdx.json'), architecture, process.versions)
  writeFileSync(`${output}.cdx.json`, billOfMaterials)
  writeFileSync(join(out, 'THIRD-PARTY-LICENSES.txt'), notices)
  for (const [name, text] of texts) writeFileSync(join(out, name), text)
  say(`Debian packages for ${architecture}`)
  const epoch = readEpoch()
  const input = { executable: output, version, epoch, texts, changes: read('CHANGELOG.md'), billOfMaterials, notices }
  const debian = architectures[architecture].debian
  const [debianPackage = ''] = debianPackages({ ...input, architecture: debian }).map((each) =>
    buildDebianPackage(each, { work: folder, folder: out, epoch, compression: 'xz' }),
  )
  if (!options.image) return
  // It is made by programs of its own architecture, as root.
  if (architecture !== process.arch || process.getuid?.() !== 0)
    return say(`no container image for ${architecture}: that needs root on a machine of this kind, with Debian`)
  say(`container image for ${architecture}`)
  const image = join(out, `deckhand-image-linux-${debian}.tar`)
  await buildContainerImage({ debianPackage, version, architecture: debian, epoch, work: folder, output: image })
  const status = execFileSync('tar', ['-xOf', join(folder, BASE_LAYER), './var/lib/dpkg/status'], { encoding: 'utf8' })
  writeFileSync(join(out, `deckhand-image-linux-${debian}.cdx.json`), toImageBill(billOfMaterials, status))
}

/** --arch: this machine's, unless others are asked for; --no-image leaves out the container image, which takes minutes. */
function readOptions(): { readonly architectures: readonly Architecture[]; readonly image: boolean } {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', multiple: true, default: [process.arch] },
      image: { type: 'boolean', default: true },
    },
    allowNegative: true,
  })
  const known = Object.keys(architectures)
  const unknown = values.arch.find((name) => !known.includes(name))
  if (unknown === undefined) return { architectures: values.arch as Architecture[], image: values.image }
  throw new Error(`Cannot package for "${unknown}": expected --arch ${known.join(' or ')}`)
}

/** The time of what is packaged: SOURCE_DATE_EPOCH, else that of the commit. */
function readEpoch(): number {
  const text =
    process.env['SOURCE_DATE_EPOCH'] ??
    execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).trim()
  if (/^\d{1,11}$/.test(text)) return Number(text)
  throw new Error(`Cannot use SOURCE_DATE_EPOCH "${text}": expected seconds since 1970`)
}

function writeChecksums(): void {
  const names = readdirSync(out).filter((name) => name !== 'SHA256SUMS')
  const lines = names.toSorted().map((name) => {
    const bytes = readFileSync(join(out, name))
    say(`${name}: ${(bytes.length / 1e6).toFixed(1)} MB`)
    return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`
  })
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''))
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
