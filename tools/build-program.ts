import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import type { BuildOptions, Metafile, Plugin } from 'esbuild'

/** Packages in CommonJS get Node's own modules by it. Whatever else they ask for is in the bundle, or missing. */
const PROGRAM_BANNER = 'const require = process.getBuiltinModule;'

/** What a program says about itself. */
export interface OwnBuild {
  readonly version: string
  readonly commit: string
}

interface Program {
  /** Of the file that is written, without its ending. */
  readonly name: string
  /** Below the root. */
  readonly source: string
  readonly outdir: string
  /** Other files by their names, which share what the program has: code that is loaded before it reaches into it. */
  readonly beside?: Readonly<Record<string, string>>
  /** For src/base/builtin/own-build.ts. */
  readonly ownBuild?: OwnBuild
}

/**
 * Bundles a program with the npm packages it uses: one file for itself, one for all that it needs at its start, and others for what it loads later.
 * Returns the paths below the root of all that is in them.
 */
export async function buildProgram(root: string, program: Program): Promise<readonly string[]> {
  const { metafile: made, outputFiles } = await bundleProgram(root, program)
  for (const { path, contents } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contents)
  }
  return Object.keys(made.inputs)
}

/** The same without writing anything. */
export async function bundleProgram(root: string, program: Program, options: Options = {}) {
  // Which of our files are loaded early does not depend on packages.
  const { metafile } = await bundle(root, program, [], { ...options, packages: 'external', sourcemap: false })
  return await bundle(root, program, [keepTogether(metafile, root, program.source)], options)
}

type Options = Pick<BuildOptions, 'sourcemap' | 'sourcesContent' | 'logLevel' | 'packages'>

/** Bundles a program as esbuild does it by itself, without writing anything. */
async function bundle(
  root: string,
  { name, source, outdir, beside = {}, ownBuild }: Program,
  plugins: readonly Plugin[] = [],
  options: Options = {},
) {
  return await build({
    absWorkingDir: root,
    entryPoints: { [name]: source, ...beside },
    outdir,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    banner: { js: PROGRAM_BANNER },
    // The licences are in a file of their own.
    legalComments: 'none',
    ...(ownBuild && { define: { OWN_BUILD: JSON.stringify(ownBuild) } }),
    logLevel: 'warning',
    ...options,
    plugins: [leaveOut, ...plugins],
    write: false,
    metafile: true,
  })
}

/** grpc-js loads it in two functions, for channelz and ORCA, that are never called here; it brings protobufjs, which has a script that runs at its installation. */
const LEFT_OUT = '@grpc/proto-loader'

const leaveOut: Plugin = {
  name: 'leave-out',
  setup(plugin) {
    plugin.onResolve({ filter: new RegExp(`^${LEFT_OUT}$`) }, () => ({ path: LEFT_OUT, namespace: 'left-out' }))
    plugin.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: `throw new Error('${LEFT_OUT} is not part of this program')`,
    }))
  },
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
  const late = listLate(inputs, program)
  const entries = new Set([program, ...late.filter((path) => !early.has(path))].map((path) => join(root, path)))
  // The program itself waits for its end, and so would all that need it.
  const shared = [...early].filter((path) => path !== program && !path.includes('node_modules/'))
  const contents = shared.map((path) => `import ${JSON.stringify(join(root, path))}\n`).join('')
  return {
    name: 'keep-together',
    setup(plugin) {
      plugin.onResolve({ filter: /^early:all$/ }, () => ({ path: 'all', namespace: 'early' }))
      plugin.onLoad({ filter: /.*/, namespace: 'early' }, () => ({ contents, resolveDir: root }))
      plugin.onLoad({ filter: /\.ts$/ }, ({ path }) =>
        entries.has(path) ? { contents: `import 'early:all';${readFileSync(path, 'utf8')}`, loader: 'ts' } : undefined,
      )
    },
  }
}

/** What a program or one of its parts loads later. */
function listLate(inputs: Metafile['inputs'], program: string): readonly string[] {
  const [seen, late] = [new Set([program]), new Set<string>()]
  for (const path of seen) {
    for (const { path: next, kind, external } of inputs[path]?.imports ?? []) {
      if (external === true) continue
      seen.add(next)
      if (kind === 'dynamic-import') late.add(next)
    }
  }
  return [...late]
}
