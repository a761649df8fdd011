import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import process from 'node:process'
import { Script } from 'node:vm'
import { build, transform } from 'esbuild'
import { PROGRAM_BANNER } from '../build-program.ts'
import { FOLDER } from './executable-folder.ts'

export interface ExecutableOptions {
  /** The programs as "npm run build" writes them. */
  readonly dist: string
  /** A folder for files on the way. */
  readonly work: string
  /** The Node that becomes the executable. */
  readonly node: string
  readonly output: string
}

// Its path becomes part of the executable, so it is the same everywhere.
const MAIN = 'executable.js'
// Below dist: the files that browsers get, and what Node keeps there between starts.
const PAGE = 'page/'
const CACHE = 'compiled/'

/** Writes the executable: Node with all programs in it. The same programs and the same Node make the same bytes. */
export async function buildExecutable(options: ExecutableOptions): Promise<void> {
  const { dist, work, node, output } = options
  mkdirSync(work, { recursive: true })
  await build({
    entryPoints: [join(import.meta.dirname, 'executable.ts')],
    outfile: join(work, MAIN),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node26',
    logLevel: 'warning',
  })
  const assets: Record<string, string> = {}
  for (const name of listFiles(dist)) if (name.startsWith(PAGE)) assets[name] = join(dist, name)
  for (const name of listPrograms(dist)) {
    const text = await toScript(name, readFileSync(join(dist, name), 'utf8'))
    assets[name] = join(work, 'assets', name)
    assets[`${name}.code`] = `${assets[name]}.code`
    mkdirSync(dirname(assets[name]), { recursive: true })
    writeFileSync(assets[name], text)
    writeFileSync(assets[`${name}.code`] ?? '', new Script(text, { filename: FOLDER + name }).createCachedData())
  }
  const config = join(work, 'executable.json')
  writeFileSync(
    config,
    JSON.stringify({ main: MAIN, output, executable: node, disableExperimentalSEAWarning: true, assets }),
  )
  execFileSync(process.execPath, ['--build-sea', config], { cwd: work, stdio: ['ignore', 'ignore', 'inherit'] })
}

function listPrograms(dist: string): readonly string[] {
  return listFiles(dist).filter((name) => name.endsWith('.js') && !name.startsWith(PAGE) && !name.startsWith(CACHE))
}

function listFiles(dist: string): readonly string[] {
  return readdirSync(dist, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? [relative(dist, join(entry.parentPath, entry.name))] : []))
    .toSorted()
}

/** A module as the body of a function, which executable.ts calls: files from memory cannot import each other. */
async function toScript(name: string, text: string): Promise<string> {
  const { code } = await transform(text.replace(PROGRAM_BANNER, ''), {
    format: 'cjs',
    target: 'node26',
    supported: { 'dynamic-import': false },
    define: {
      'import.meta.url': JSON.stringify(`file://${FOLDER}${name}`),
      'import.meta.filename': JSON.stringify(FOLDER + name),
    },
    minifyWhitespace: true,
    lineLimit: 160,
  })
  return `(function (module, exports, require) {${code}\n})`
}
