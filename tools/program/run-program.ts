/** Runs a program of dist, whose first file is this one: with the code that V8 made of it in an earlier start. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import type { Script } from 'node:vm'
import { crc32 } from 'node:zlib'
import { createLoader } from './create-loader.ts'

interface Fresh {
  readonly text: string
  readonly script: Script
  written: number
}

const SUM_BYTES = 8

/** Runs the program with this name; "folder" is dist. */
export function runProgram(folder: string, program: string): void {
  const scripts = `${folder}/scripts/`
  const cache = process.env['NODE_COMPILE_CACHE'] ?? join(folder, 'compiled')
  const fresh = new Map<string, Fresh>()
  const writeFresh = () => {
    for (const [name, each] of fresh) writeCode(join(cache, `${name}.code`), each)
  }
  // What is killed writes nothing: a program that may be calls flushCompileCache().
  process.once('exit', writeFresh)
  const load = createLoader({
    folder: `${folder}/`,
    scripts,
    readText: (name) => readFileSync(scripts + name, 'latin1'),
    readCode: (name, text) => readCode(join(cache, `${name}.code`), text),
    onLoaded: (name, text, script) => fresh.set(name, { text, script, written: 0 }),
    flushCompileCache: writeFresh,
  })
  load(program)
}

/** V8 believes what it is given: so it is given nothing that a power cut may have left half written, or that was made of another text. */
function readCode(path: string, text: string): Buffer | undefined {
  let file: Buffer
  try {
    file = readFileSync(path)
  } catch {
    return undefined
  }
  if (file.length <= SUM_BYTES) return undefined
  const code = file.subarray(SUM_BYTES)
  return file.readUInt32LE(0) === crc32(text) && file.readUInt32LE(4) === crc32(code) ? code : undefined
}

function writeCode(path: string, fresh: Fresh): void {
  const code = fresh.script.createCachedData()
  // With what ran since the last time; but V8 also throws away what was not called for a while.
  if (code.length <= fresh.written) return
  const sums = Buffer.alloc(SUM_BYTES)
  sums.writeUInt32LE(crc32(fresh.text), 0)
  sums.writeUInt32LE(crc32(code), 4)
  try {
    mkdirSync(dirname(path), { recursive: true })
    const temporary = `${path}.${process.pid}`
    writeFileSync(temporary, Buffer.concat([sums, code]), { mode: 0o600 })
    renameSync(temporary, path)
    fresh.written = code.length
  } catch {
    // A folder that cannot be written to: the next start compiles again.
  }
}
