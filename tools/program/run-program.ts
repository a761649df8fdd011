/** Runs a program of dist or of an edited checkout, whose first file is this one: with the code that V8 made of it in an earlier start. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { CodeCache } from './code-cache.ts'
import { createLoader } from './create-loader.ts'
import { mapStacks } from './map-stacks.ts'

/** Runs the program with this name; "folder" is where it was built. */
export function runProgram(folder: string, program: string): void {
  const scripts = `${folder}/scripts/`
  if (existsSync(`${scripts}${program}.lines`)) mapStacks(scripts)
  const load = createLoader({
    folder: `${folder}/`,
    scripts,
    readText: (name) => readFileSync(scripts + name, 'latin1'),
    cache: new CodeCache(process.env['NODE_COMPILE_CACHE'] ?? join(folder, 'compiled')),
  })
  load(program)
}
