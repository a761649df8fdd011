/**
 * The first file of the executable, which is both commands and their helpers: finds out which of them is wanted and runs its files, which are assets, with
 * the code that V8 made of them when the executable was built.
 */
import nodeModule from 'node:module'
import { posix } from 'node:path'
import process from 'node:process'
import { getRawAsset } from 'node:sea'
import { Script } from 'node:vm'
import { EXECUTABLE_FOLDER as FOLDER } from '../../src/base/builtin/executable-files.ts'

type Require = (specifier: string) => unknown
type Run = (module: { exports: unknown }, exports: unknown, require: Require) => void

const loaded = new Map<string, { exports: unknown }>()

load(chooseProgram())

/** By the name that it was called by, or by its first argument: a helper's file, or "kubelet" where there is no such name. */
function chooseProgram(): string {
  const first = process.argv[2] ?? ''
  if (first.startsWith(FOLDER)) {
    process.argv.splice(1, 1)
    return first.slice(FOLDER.length)
  }
  if (posix.basename(process.argv0).startsWith('kubelet')) return 'main.js'
  if (first !== 'kubelet') return 'deckhand.js'
  process.argv.splice(2, 1)
  return 'main.js'
}

function load(name: string): unknown {
  const known = loaded.get(name)
  if (known !== undefined) return known.exports
  const module = { exports: {} as unknown }
  loaded.set(name, module)
  // Programs are ASCII (tools/build-program.ts).
  const text = Buffer.from(getRawAsset(name)).toString('latin1')
  const script = new Script(text, { filename: FOLDER + name, cachedData: Buffer.from(getRawAsset(`${name}.code`)) })
  const run = script.runInThisContext() as Run
  run(module, module.exports, (specifier) => find(name, specifier))
  return module.exports
}

function find(from: string, specifier: string): unknown {
  const requireBeside = (path: string) => find(from, path)
  if (specifier.startsWith('.')) return load(posix.join(posix.dirname(from), specifier))
  // What is loaded without waiting is beside it too (parse-yaml.ts).
  if (specifier === 'node:module') return Object.create(nodeModule, { createRequire: { value: () => requireBeside } })
  return process.getBuiltinModule(specifier)
}
