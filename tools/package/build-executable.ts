import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import process from 'node:process'
import { build } from 'esbuild'
import { EXECUTABLE_FOLDER as FOLDER } from '../../src/base/builtin/executable-files.ts'

export interface ExecutableOptions {
  /** The programs as "npm run build" writes them. */
  readonly dist: string
  /** A folder for files on the way. */
  readonly work: string
  /** The Node that becomes the executable. */
  readonly node: string
  /** What runs that Node here: itself, or an emulator with it. */
  readonly run: readonly string[]
  readonly output: string
}

// Its path becomes part of the executable, so it is the same everywhere.
const MAIN = 'executable.js'
// As in bin/launch.sh.
const FLAGS = ['--no-memory-reducer']
// Below dist: the files that browsers get, and those of the programs.
const PAGE = 'page/'
const SCRIPTS = 'scripts'

// Writes beside each file the code that V8 makes of it. Its tables are ordered by a number that each process draws, so it is given one; V8 takes no code of
// a process with other flags, so the flag is taken back before the code is written.
const SEED = '--hash-seed=1'
const COMPILE = `require('node:v8').setFlagsFromString('--hash-seed=0')
const { Script } = require('node:vm'), { readFileSync, writeFileSync } = require('node:fs')
for (const [file, filename] of JSON.parse(process.argv[1]))
  writeFileSync(file + '.code', new Script(readFileSync(file, 'latin1'), { filename }).createCachedData())`

/** Writes the executable: Node with all programs in it. The same programs and the same Node make the same bytes. */
export async function buildExecutable(options: ExecutableOptions): Promise<void> {
  const { dist, work, node, run, output } = options
  const [program = '', ...first] = run
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
  const scripts: [file: string, name: string][] = []
  for (const name of listFiles(dist)) if (name.startsWith(PAGE)) assets[name] = join(dist, name)
  for (const name of listFiles(join(dist, SCRIPTS))) {
    assets[name] = join(work, 'assets', name)
    assets[`${name}.code`] = `${assets[name]}.code`
    mkdirSync(dirname(assets[name]), { recursive: true })
    copyFileSync(join(dist, SCRIPTS, name), assets[name])
    scripts.push([assets[name], FOLDER + name])
  }
  // By the Node that takes it later: code of another architecture is refused.
  execFileSync(program, [...first, SEED, '--input-type=commonjs', '--eval', COMPILE, JSON.stringify(scripts)])
  const config = join(work, 'executable.json')
  writeFileSync(
    config,
    JSON.stringify({
      main: MAIN,
      output,
      executable: node,
      disableExperimentalSEAWarning: true,
      execArgv: FLAGS,
      assets,
    }),
  )
  execFileSync(process.execPath, ['--build-sea', config], { cwd: work, stdio: ['ignore', 'ignore', 'inherit'] })
}

function listFiles(dist: string): readonly string[] {
  return readdirSync(dist, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? [relative(dist, join(entry.parentPath, entry.name))] : []))
    .toSorted()
}
