import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build } from 'esbuild'
import { toScript } from './to-script.ts'

/** Writes programs that build-programs.ts put in a folder as run-program.ts wants them: all files as scripts, and for each program a file to start it by. */
export async function writePrograms(built: string, outdir: string, programs: readonly string[]): Promise<void> {
  const write = (name: string, text: string | Uint8Array) => {
    const path = join(outdir, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const files = readdirSync(built, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const { parentPath, name } of files) {
    const text = readFileSync(join(parentPath, name), 'utf8')
    write(join('scripts', relative(built, parentPath), name), await toScript(text))
  }
  for (const [name, text] of await createStarters(programs)) write(name, text)
}

/** What starts programs that lie as scripts beside it, by the names of the files. */
export async function createStarters(programs: readonly string[]): Promise<ReadonlyMap<string, string | Uint8Array>> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'run-program.ts')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node26',
    logLevel: 'warning',
    write: false,
  })
  const starters = programs.map((program) => {
    const root = '../'.repeat(program.split('/').length - 1) || './'
    const text = `require('${root}run-program.js').runProgram(require('node:path').join(__dirname, '${root}.'), '${program}.js')\n`
    return [`${program}.js`, text] as const
  })
  return new Map<string, string | Uint8Array>([
    ...outputFiles.map(({ contents }) => ['run-program.js', contents] as const),
    ...starters,
    // The package itself has modules.
    ['package.json', '{"type":"commonjs"}\n'],
  ])
}
