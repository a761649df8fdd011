/** "npm run package": writes what users install to out/, each file with its checksum. */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { buildExecutable } from './build-executable.ts'
import { completions } from './completions.ts'
import { manualPages } from './manual-pages.ts'
import { stripProgram } from './strip-program.ts'

const root = join(import.meta.dirname, '../..')
const out = join(root, 'out')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
rmSync(out, { recursive: true, force: true })
mkdirSync(out)
mkdirSync(join(root, '.cache'), { recursive: true })
const work = mkdtempSync(join(root, '.cache/package-'))
try {
  say('npm package')
  // Builds dist first, as "prepack" says.
  execFileSync('npm', ['pack', '--loglevel=error', '--pack-destination', out], { cwd: root, stdio: 'pipe' })
  say('executable')
  const node = join(work, 'node')
  copyFileSync(process.execPath, node)
  if (!stripProgram(node)) say('  without binutils it keeps the names of its functions: 34 MB more')
  const output = join(out, `deckhand-linux-${process.arch}`)
  await buildExecutable({ dist: join(root, 'dist'), work, node, output })
  copyFileSync(join(root, 'dist/sbom.cdx.json'), join(out, 'sbom.cdx.json'))
  copyFileSync(join(root, 'dist/THIRD-PARTY-LICENSES.txt'), join(out, 'THIRD-PARTY-LICENSES.txt'))
  for (const [name, text] of [...manualPages(version), ...completions()]) writeFileSync(join(out, name), text)
  writeChecksums()
} finally {
  rmSync(work, { recursive: true })
}

function writeChecksums(): void {
  const lines = readdirSync(out).map((name) => {
    const bytes = readFileSync(join(out, name))
    say(`${name}: ${(bytes.length / 1e6).toFixed(1)} MB`)
    return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`
  })
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''))
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
