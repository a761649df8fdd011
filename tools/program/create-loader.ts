import nodeModule from 'node:module'
import { posix } from 'node:path'
import process from 'node:process'
import { Script } from 'node:vm'
import type { CodeCache } from './code-cache.ts'

type Require = (specifier: string) => unknown
type ImportMeta = Readonly<{ url: string; filename: string }>
type Start = (module: { exports: unknown }, exports: unknown, require: Require, importMeta: ImportMeta) => void

/** Where the files of a program come from (to-script.ts makes them). */
interface ProgramFiles {
  /** What a file thinks it is, for what lies beside it. Ends with a slash. */
  readonly folder: string
  /** As stacks name them. Ends with a slash. */
  readonly scripts: string
  /** Programs are ASCII (build-program.ts). */
  readText(name: string): string
  /** What V8 made of its text when it was built; it compiles each function when it is called where there is none. */
  readBuiltCode?(name: string): Buffer
  /** What V8 made of it in an earlier start, which has the functions that were called since too. */
  readonly cache?: CodeCache
}

/** Loads files of a program by their names, each once, with the code that V8 made of them earlier. */
export function createLoader(files: ProgramFiles): (name: string) => unknown {
  const { cache } = files
  const loaded = new Map<string, { exports: unknown }>()
  // A program that may be killed, and then writes nothing, calls flushCompileCache() when it has come to what it is for.
  if (cache !== undefined) process.once('exit', () => cache.write())

  const load = (name: string): unknown => {
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const module = { exports: {} as unknown }
    // Before it runs, for files that load each other.
    loaded.set(name, module)
    try {
      run(name, module)
    } catch (error) {
      // Such as without a descriptor to spare: the next one who asks for it may have more luck.
      loaded.delete(name)
      throw error
    }
    return module.exports
  }

  const run = (name: string, module: { exports: unknown }): void => {
    const text = files.readText(name)
    const kept = cache?.read(name, text)
    const code = kept?.code ?? files.readBuiltCode?.(name)
    const script = new Script(text, { filename: files.scripts + name, ...(code && { cachedData: code }) })
    // V8 takes no code of another version, or of a processor with less.
    const isKept = kept !== undefined && script.cachedDataRejected !== true
    if (!isKept || !kept.isWhole) cache?.add(name, { text, script, isKept })
    const filename = files.folder + name
    const start = script.runInThisContext() as Start
    start(module, module.exports, (specifier) => find(name, specifier), { url: `file://${filename}`, filename })
  }

  const find = (from: string, specifier: string): unknown => {
    if (specifier.startsWith('.')) return load(posix.join(posix.dirname(from), specifier))
    if (specifier !== 'node:module') return process.getBuiltinModule(specifier)
    // What is loaded without waiting is beside it too (parse-yaml.ts).
    const createRequire = () => (path: string) => find(from, path)
    return Object.create(nodeModule, {
      createRequire: { value: createRequire },
      // Takes the place of Node's, which knows nothing of these files.
      flushCompileCache: { value: () => cache?.writeWhole() },
    })
  }
  return load
}
