import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../test/fixtures/make-temporary-folder.ts'

const root = join(import.meta.dirname, '..')
const SOURCES = [
  'src/system/guarded/child/answer-requests.ts',
  'src/system/network/child/dial.ts',
  'src/base/document/yaml-library.ts',
]

/** A small checkout with our tools. */
function createCheckout() {
  const folder = makeTemporaryFolder()
  for (const name of ['bin', 'tools']) cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  for (const name of SOURCES) write(name, 'export {}')
  const start = () => {
    const { stdout, stderr } = spawnSync(join(folder, 'bin/kubelet'), [], { encoding: 'utf8', env: process.env })
    return { stdout, stderr }
  }
  return { folder, write, start }
}

test('an edited program runs at once, with the lines of its sources in stacks', () => {
  const { folder, write, start } = createCheckout()
  write('src/part.ts', `\n\nexport const fail = (): never => {\n  throw new Error('a part')\n}`)
  write('src/main.ts', `void import('./part.ts').then(({ fail }) => fail())`)
  assert.match(start().stderr, /Error: a part\n(?:.*\n)*? +at .*\/src\/part\.ts:4:/)
  assert.ok(existsSync(join(folder, '.built/main.js')))
  write('src/main.ts', `console.log(import.meta.filename)`)
  assert.deepEqual(start(), { stdout: `${join(folder, '.built/main.js')}\n`, stderr: '' })
})

test('sources that cannot be built run by themselves, and say what is wrong', () => {
  const { write, start } = createCheckout()
  write('src/main.ts', `console.log('before'))`)
  assert.match(start().stderr, /src\/main\.ts:1(?:.*\n)*.*SyntaxError/)
})

test('parts of earlier builds stay for a week, for programs that still run', () => {
  const { folder, write, start } = createCheckout()
  const parts = () => readdirSync(join(folder, '.built/scripts')).filter((name) => /^late-.*\.js$/.test(name))
  write('src/late.ts', `console.log('late 1')`)
  write('src/main.ts', `void import('./late.ts')`)
  assert.equal(start().stdout, 'late 1\n')
  const [first = ''] = parts()
  write('src/late.ts', `console.log('late 2')`)
  assert.equal(start().stdout, 'late 2\n')
  assert.equal(parts().length, 2)
  const aWeekAgo = statSync(join(folder, '.built/scripts', first)).mtimeMs / 1000 - 8 * 24 * 3600
  utimesSync(join(folder, '.built/scripts', first), aWeekAgo, aWeekAgo)
  write('src/late.ts', `console.log('late 3')`)
  assert.equal(start().stdout, 'late 3\n')
  assert.ok(!parts().includes(first))
  assert.equal(parts().length, 2)
})
