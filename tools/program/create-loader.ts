import nodeModule from 'node:module'
import { posix } from 'node:path'
import process from 'node:process'
import { Script } from 'node:vm'

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
  /** What V8 made of this text; undefined: it compiles each function when it is called. */
  readCode(name: string, text: string): Buffer | undefined
  onLoaded?(name: string, text: string, script: Script): void
  /** Takes the place of Node's, which knows nothing of these files. */
  readonly flushCompileCache?: () => void
}

/** Loads files of a program by their names, each once, with the code that V8 made of them earlier. */
export function createLoader(files: ProgramFiles): (name: string) => unknown {
  const loaded = new Map<string, { exports: unknown }>()

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
    const code = files.readCode(name, text)
    const script = new Script(text, { filename: files.scripts + name, ...(code && { cachedData: code }) })
    // V8 takes no code of another version, or of a processor with less.
    if (code === undefined || script.cachedDataRejected === true) files.onLoaded?.(name, text, script)
    const filename = files.folder + name
    const start = script.runInThisContext() as Start
    start(module, module.exports, (specifier) => find(name, specifier), { url: `file://${filename}`, filename })
  }

  const find = (from: string, specifier: string): unknown => {
    if (specifier.startsWith('.')) return load(posix.join(posix.dirname(from), specifier))
    if (specifier !== 'node:module') return process.getBuiltinModule(specifier)
    // What is loaded without waiting is beside it too (parse-yaml.ts).
    const createRequire = () => (path: string) => find(from, path)
    const { flushCompileCache = () => {} } = files
    return Object.create(nodeModule, {
      createRequire: { value: createRequire },
      flushCompileCache: { value: flushCompileCache },
    })
  }
  return load
}
