/**
 * The first file of the executable, which is both commands and their helpers: finds out which of them is wanted and runs its files, which are assets, with
 * the code that V8 made of them in an earlier start, or when the executable was built.
 */
import { posix } from 'node:path'
import process from 'node:process'
import { getRawAsset } from 'node:sea'
import { EXECUTABLE_FOLDER as FOLDER } from '../../src/base/builtin/executable-files.ts'
import { CodeCache } from '../program/code-cache.ts'
import { createLoader } from '../program/create-loader.ts'

const CACHE_FOLDER = '/var/cache/deckhand'

const load = createLoader({
  folder: FOLDER,
  scripts: FOLDER,
  readText: (name) => Buffer.from(getRawAsset(name)).toString('latin1'),
  readBuiltCode: (name) => Buffer.from(getRawAsset(`${name}.code`)),
  cache: new CodeCache(process.env['NODE_COMPILE_CACHE'] ?? CACHE_FOLDER),
})
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
