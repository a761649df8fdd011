import { transform } from 'esbuild'
import { PROGRAM_BANNER } from '../build-program.ts'

/**
 * A built module as a function that create-loader.ts calls: V8 gives back the code that it made of a script while it ran, of a module only what it made before.
 */
export async function toScript(text: string): Promise<string> {
  // The names of sources, which the log needs (find-built-source.ts), are kept as if they were licences.
  const marked = text.replace(PROGRAM_BANNER, '').replaceAll(/^\/\/ (?=\S+\.\w+$)/gm, '//! ')
  const { code } = await transform(marked, {
    format: 'cjs',
    target: 'node26',
    supported: { 'dynamic-import': false },
    define: { 'import.meta': 'importMeta' },
    minifyWhitespace: true,
    lineLimit: 160,
    legalComments: 'inline',
  })
  return `(function (module, exports, require, importMeta) {${code.replaceAll(/\n?\/\/! (?=\S+\.\w+\n)/g, '\n// ')}\n})`
}
