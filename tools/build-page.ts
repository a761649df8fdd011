/** Bundles what browsers load of the page: few files with hashes in their names, each also compressed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const CLIENT = 'src/page/client'
const BEST = { level: 9 }

/** Writes the page to a folder. Returns the paths below the root of all that is in it. */
export async function buildPage(root: string, outdir: string): Promise<readonly string[]> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { page: `${CLIENT}/show-page.tsx` },
    outdir,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: ['chrome120', 'firefox120', 'safari17'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
    metafile: true,
  })
  mkdirSync(outdir, { recursive: true })
  for (const { path, contents } of outputFiles) write(path, contents)
  const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === `${CLIENT}/show-page.tsx`)
  if (entry === undefined) throw new Error('Cannot find the entry of the page in what was built')
  const [script, { cssBundle = '' }] = entry
  const html = readFileSync(join(root, CLIENT, 'index.html'), 'utf8')
    .replace('PAGE_SCRIPT', `/assets/${basename(script)}`)
    .replace('PAGE_ICON', '/assets/icon.svg')
    .replace('PAGE_STYLE', `/assets/${basename(cssBundle)}`)
  write(join(outdir, 'icon.svg'), readFileSync(join(root, CLIENT, 'icon.svg')))
  write(join(outdir, 'index.html'), Buffer.from(html))
  return Object.keys(metafile.inputs)
}

function write(path: string, contents: Uint8Array): void {
  writeFileSync(path, contents)
  writeFileSync(`${path}.gz`, gzipSync(contents, BEST))
}
