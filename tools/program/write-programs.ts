import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build } from 'esbuild'
import { toScript } from './to-script.ts'

/** Writes programs that build-programs.ts put in a folder as run-program.ts wants them: all files as scripts, and for each program a file to start it by. */
export async function writePrograms(built: string, outdir: string, programs: readonly string[]): Promise<void> {
  const files = readdirSync(built, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const { parentPath, name } of files) {
    const path = join(outdir, 'scripts', relative(built, parentPath), name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, await toScript(readFileSync(join(parentPath, name), 'utf8')))
  }
  await build({
    entryPoints: [join(import.meta.dirname, 'run-program.ts')],
    outfile: join(outdir, 'run-program.js'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node26',
    logLevel: 'warning',
  })
  for (const program of programs) {
    const root = '../'.repeat(program.split('/').length - 1) || './'
    mkdirSync(dirname(join(outdir, program)), { recursive: true })
    writeFileSync(
      join(outdir, `${program}.js`),
      `require('${root}run-program.js').runProgram(require('node:path').join(__dirname, '${root}.'), '${program}.js')\n`,
    )
  }
  // The package itself has modules.
  writeFileSync(join(outdir, 'package.json'), '{"type":"commonjs"}\n')
}
