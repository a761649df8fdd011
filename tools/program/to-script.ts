import { transform } from 'esbuild'
import { encodeLineTable } from './line-table.ts'

/** Where the lines of a script come from; of the text that it was made of, if that has a map at its end. */
interface MappedScript {
  readonly script: string
  /** For map-stacks.ts. */
  readonly lines: Buffer
}

/**
 * A built module as a function that create-loader.ts calls: V8 gives back the code that it made of a script while it ran, of a module only what it made before.
 * Without indentation and comments: Node keeps the text of what it runs, and one character that is not ASCII doubles it. What a stack trace needs stays: names, lines of
 * some length, the files they come from.
 */
export async function toScript(text: string): Promise<string> {
  // The names of sources, which the log needs (find-built-source.ts), are kept as if they were licences.
  const marked = text.replaceAll(/^\/\/ (?=\S+\.\w+$)/gm, '//! ')
  const { code } = await transform(marked, {
    ...options,
    minifyWhitespace: true,
    lineLimit: 160,
    legalComments: 'inline',
  })
  return wrap(code.replaceAll(/\n?\/\/! (?=\S+\.\w+\n)/g, '\n// '))
}

/** The same in lines that a person can read, with a table of where they are in the sources. */
export async function toMappedScript(text: string): Promise<MappedScript> {
  const { code, map } = await transform(text, { ...options, legalComments: 'none', sourcemap: 'external' })
  return { script: wrap(code), lines: encodeLineTable(JSON.parse(map)) }
}

const options = {
  format: 'cjs',
  target: 'node26',
  supported: { 'dynamic-import': false },
  define: { 'import.meta': 'importMeta' },
} as const

/** Lines keep their numbers. */
function wrap(code: string): string {
  return `(function (module, exports, require, importMeta) {${code}\n})`
}
