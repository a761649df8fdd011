import { transform } from 'esbuild'

/**
 * A built module as a function that create-loader.ts calls: V8 gives back the code that it made of a script while it ran, of a module only what it made before.
 * Without indentation and comments: Node keeps the text of what it runs, and one character that is not ASCII doubles it. What a stack trace needs stays: names, lines of
 * some length, the files they come from.
 */
export async function toScript(text: string): Promise<string> {
  // The names of sources, which the log needs (find-built-source.ts), are kept as if they were licences.
  const marked = text.replaceAll(/^\/\/ (?=\S+\.\w+$)/gm, '//! ')
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
