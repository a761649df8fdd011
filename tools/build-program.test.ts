import assert from 'node:assert/strict'
import { isAscii } from 'node:buffer'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { makeTemporaryFolder } from '../test/fixtures/make-temporary-folder.ts'
import { buildProgram } from './build-program.ts'
import { writePrograms } from './program/write-programs.ts'

test('a program loads one file besides itself at its start, whatever it shares with what is loaded later', async () => {
  const root = makeTemporaryFolder()
  mkdirSync(join(root, 'src'))
  const files = {
    'a.ts': `export const a: string = 'a'`,
    'b.ts': `export const b: string = 'b'`,
    'late-a.ts': `import { a } from './a.ts'\nexport const late = 'late ' + a`,
    'late-b.ts': `import { a } from './a.ts'\nimport { b } from './b.ts'\nexport const late = 'late ' + a + b`,
    // As our programs do, it waits for its own end while parts are loaded.
    'main.ts': `import { a } from './a.ts'
import { b } from './b.ts'
const parts = await Promise.all([import('./late-a.ts'), import('./late-b.ts')])
export const all = [a, b, ...parts.map(({ late }) => late)]`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'src', name), text)
  const outdir = join(root, 'dist')
  await buildProgram(root, { name: 'main', source: 'src/main.ts', outdir })
  const built = readdirSync(outdir).toSorted()
  assert.equal(built.length, 4, built.join())
  const early = [...readFileSync(join(outdir, 'main.js'), 'utf8').matchAll(/from ?"(.*?)"/g)].map(([, path]) => path)
  assert.equal(early.length, 1, early.join())
  const { all } = (await import(pathToFileURL(join(outdir, 'main.js')).href)) as { readonly all: readonly string[] }
  assert.deepEqual(all, ['a', 'b', 'late a', 'late ab'])
})

test('a built program has the names of its functions and files, and no other comments', async () => {
  const root = makeTemporaryFolder()
  mkdirSync(join(root, 'src'))
  const text = `export class Waiting {
    /** Until the end …; comments of members are the ones that a bundle keeps. */
    readonly untilTheEnd = function untilTheEnd() { return 'a…' }
  }`
  writeFileSync(join(root, 'src/main.ts'), text)
  await buildProgram(root, { name: 'main', source: 'src/main.ts', outdir: join(root, 'built') })
  await writePrograms(join(root, 'built'), join(root, 'dist'), ['main'])
  const built = readFileSync(join(root, 'dist/scripts/main.js'), 'utf8')
  assert.match(built, /function untilTheEnd\(/)
  assert.match(built, /^\/\/ src\/main\.ts$/m)
  assert.doesNotMatch(built, /comments/)
  assert.ok(isAscii(Buffer.from(built)))
})
