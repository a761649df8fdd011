/**
 * Builds one program from sources that were edited since the last "npm run build", for the launchers (bin/launch.sh): as that does, with tables of
 * lines for stacks in addition. All goes to .built, where running programs still find the parts that they load later.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import process from 'node:process'
import { buildPage } from './build-page.ts'
import { bundleProgram } from './build-program.ts'
import { PROGRAMS } from './build-programs.ts'
import type { ProgramName } from './build-programs.ts'
import { toMappedScript } from './program/to-script.ts'
import { createStarters } from './program/write-programs.ts'

/** So long the parts of earlier builds stay. */
const KEPT_MS = 7 * 24 * 3600_000
/** Where run-program.ts looks for them. */
const SCRIPTS = 'scripts'

const root = join(import.meta.dirname, '..')
const outdir = join(root, '.built')
const startedAt = new Date()
const name = process.argv[2] as ProgramName
// The others are small, and loaded by both.
const names = [name, ...(Object.keys(PROGRAMS) as ProgramName[]).filter((each) => !['main', 'deckhand'].includes(each))]
const parts = Promise.all([createStarters(names), ...names.map((each) => buildScripts(each))])
if (name === 'deckhand') await buildEditedPage()
const files = new Map((await parts).flatMap((made) => [...made]))
for (const [path, contents] of files) replace(join(outdir, path), contents)
rmSync(join(outdir, 'compiled'), { recursive: true, force: true })
for (const folder of ['', SCRIPTS]) removeOld(folder)
// What is changed from here on is newer.
const made = join(outdir, `${name}.made`)
writeFileSync(made, '')
utimesSync(made, startedAt, startedAt)

/** A server of the page reads all of it at once, with the first request. */
async function buildEditedPage(): Promise<void> {
  rmSync(join(outdir, 'page'), { recursive: true, force: true })
  await buildPage(root, join(outdir, 'page'))
}

/** The scripts of a program and their tables of lines, by their names below .built. */
async function buildScripts(program: ProgramName): Promise<ReadonlyMap<string, string | Buffer>> {
  const scripts = join(outdir, SCRIPTS)
  const { outputFiles } = await bundleProgram(
    root,
    { name: program, source: PROGRAMS[program], outdir: scripts },
    { sourcemap: 'inline', sourcesContent: false, logLevel: 'silent' },
  )
  const files = outputFiles.map(async ({ path, text }): Promise<readonly (readonly [string, string | Buffer])[]> => {
    const { script, lines } = await toMappedScript(text)
    const file = join(SCRIPTS, relative(scripts, path))
    return [
      [file, script],
      [`${file}.lines`, lines],
    ]
  })
  return new Map((await Promise.all(files)).flat())
}

/** Two builds at the same time, and programs that start meanwhile, each see whole files. */
function replace(path: string, contents: string | Uint8Array): void {
  const temporary = `${path}.${process.pid}`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(temporary, contents)
  renameSync(temporary, path)
}

function removeOld(folder: string): void {
  for (const entry of readdirSync(join(outdir, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (!entry.isFile() || files.has(path)) continue
    const state = statSync(join(outdir, path), { throwIfNoEntry: false })
    if (state !== undefined && Date.now() - state.mtimeMs > KEPT_MS) rmSync(join(outdir, path), { force: true })
  }
}
