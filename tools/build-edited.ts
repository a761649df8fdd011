/**
 * Builds one program from sources that were edited since the last "npm run build", for the launchers (bin/launch.sh): as that does, but without what
 * takes its time, and with maps to the sources for stacks. All goes to .built, where running programs still find the parts that they load later.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { buildPage } from './build-page.ts'
import { bundle } from './build-program.ts'
import { PROGRAMS } from './build-programs.ts'
import type { ProgramName } from './build-programs.ts'

/** So long the parts of earlier builds stay. */
const KEPT_MS = 7 * 24 * 3600_000

const root = join(import.meta.dirname, '..')
const outdir = join(root, '.built')
const startedAt = new Date()
const name = process.argv[2] as ProgramName
// The others are small, and loaded by both.
const names = [name, ...(Object.keys(PROGRAMS) as ProgramName[]).filter((each) => !['main', 'deckhand'].includes(each))]
const parts = Promise.all(names.map((each) => bundleEdited(each)))
if (name === 'deckhand') await buildEditedPage()
const files = (await parts).flat()
for (const { path, contents } of files) replace(path, contents)
rmSync(join(outdir, 'compiled'), { recursive: true, force: true })
removeOld(new Set(files.map(({ path }) => path)))
// What is changed from here on is newer.
const made = join(outdir, `${name}.made`)
writeFileSync(made, '')
utimesSync(made, startedAt, startedAt)

/** A server of the page reads all of it at once, with the first request. */
async function buildEditedPage(): Promise<void> {
  rmSync(join(outdir, 'page'), { recursive: true, force: true })
  await buildPage(root, join(outdir, 'page'))
}

async function bundleEdited(program: ProgramName) {
  const { outputFiles } = await bundle(root, { name: program, source: PROGRAMS[program], outdir }, [], {
    sourcemap: 'linked',
    logLevel: 'silent',
  })
  return outputFiles
}

/** Two builds at the same time, and programs that start meanwhile, each see whole files. */
function replace(path: string, contents: Uint8Array): void {
  const temporary = `${path}.${process.pid}`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(temporary, contents)
  renameSync(temporary, path)
}

function removeOld(current: ReadonlySet<string>): void {
  for (const entry of readdirSync(outdir, { withFileTypes: true })) {
    const path = join(outdir, entry.name)
    if (!entry.isFile() || current.has(path)) continue
    const state = statSync(path, { throwIfNoEntry: false })
    if (state !== undefined && Date.now() - state.mtimeMs > KEPT_MS) rmSync(path, { force: true })
  }
}
