import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { BuildOptions, Metafile, Plugin } from 'esbuild'

interface Program {
  /** Of the file that is written, without its ending. */
  readonly name: string
  /** Below the root. */
  readonly source: string
  readonly outdir: string
}

/** Bundles a program: one file for itself, one for all that it needs at its start, and others for what it loads later. */
export async function buildProgram(root: string, { name, source, outdir }: Program): Promise<void> {
  const options = {
    absWorkingDir: root,
    entryPoints: { [name]: source },
    outdir,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node26',
    logLevel: 'warning',
  } as const satisfies BuildOptions
  const { metafile } = await build({ ...options, write: false, metafile: true })
  await build({ ...options, plugins: [keepTogether(metafile, root, source)] })
}

/**
 * All that a program loads at its start goes into one file. By itself esbuild makes one for each group of parts that share it, because a part that is
 * loaded later may be loaded alone; here each of those names all that is there already.
 */
function keepTogether({ inputs }: Metafile, root: string, program: string): Plugin {
  const early = new Set<string>()
  const visit = (path: string) => {
    if (early.has(path)) return
    early.add(path)
    for (const { path: next, kind, external } of inputs[path]?.imports ?? [])
      if (kind === 'import-statement' && external !== true) visit(next)
  }
  visit(program)
  const late = Object.values(inputs).flatMap(({ imports }) =>
    imports.filter(({ kind, external }) => kind === 'dynamic-import' && external !== true).map(({ path }) => path),
  )
  const entries = new Set([program, ...late.filter((path) => !early.has(path))].map((path) => join(root, path)))
  // The program itself waits for its end, and so would all that need it.
  const shared = [...early].filter((path) => path !== program)
  const contents = shared.map((path) => `import ${JSON.stringify(join(root, path))}\n`).join('')
  return {
    name: 'keep-together',
    setup(plugin) {
      plugin.onResolve({ filter: /^early:all$/ }, () => ({ path: 'all', namespace: 'early' }))
      plugin.onLoad({ filter: /.*/, namespace: 'early' }, () => ({ contents, resolveDir: root }))
      plugin.onLoad({ filter: /\.ts$/ }, ({ path }) =>
        entries.has(path) ? { contents: `import 'early:all'\n${readFileSync(path, 'utf8')}`, loader: 'ts' } : undefined,
      )
    },
  }
}
