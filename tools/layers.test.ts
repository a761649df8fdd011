import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { layers, owners } from './layers.ts'

const root = join(import.meta.dirname, '..')
const folders = Object.keys(layers)

describe('layers', () => {
  test('has every folder of src, and no other', () => {
    const present = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    assert.deepEqual(folders.toSorted(), present.map(({ name }) => name).sort())
  })

  test('lets a folder import only folders above it, so that there is no cycle', () => {
    const below = folders.flatMap((folder, index) =>
      (layers[folder] ?? [])
        .filter((other) => !folders.slice(0, index).includes(other))
        .map((other) => `${folder} lists ${other}`),
    )
    assert.deepEqual(below, [])
  })

  test('gives every npm package at run time an owner, and names only folders that exist', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    assert.deepEqual(
      Object.keys(dependencies).filter((name) => owners[name] === undefined),
      [],
    )
    assert.deepEqual(
      Object.values(owners)
        .flat()
        .filter((folder) => !folders.includes(folder)),
      [],
    )
  })
})

// One statement a row: where it stands, what it says, which rule must complain. "none" is the control group.
const statements: readonly (readonly [file: string, text: string, rule: string])[] = [
  ['src/status/value.ts', `export { podText } from '../model/pod.ts'`, 'none'],
  ['src/status/value.test.ts', `import '../pods/worker.ts'`, 'none'],
  ['src/async/sleep.ts', `export { setTimeout } from 'node:timers/promises'`, 'none'],
  ['src/host/read.ts', `export { readFileSync } from 'node:fs'`, 'none'],
  ['src/status/plain.ts', `import { x } from '../pods/worker.ts'\nexport const y = x`, 'no-restricted-imports'],
  ['src/status/type.ts', `import type { X } from '../pods/worker.ts'\nexport type Y = X`, 'no-restricted-imports'],
  ['src/status/again.ts', `export { x } from '../pods/worker.ts'`, 'no-restricted-imports'],
  ['src/status/all.ts', `export * from '../pods/worker.ts'`, 'no-restricted-imports'],
  ['src/status/later.ts', `export const y = () => import('../pods/worker.ts')`, 'no-restricted-imports'],
  ['src/config/fields/deep.ts', `export { x } from '../../pods/worker.ts'`, 'no-restricted-imports'],
  ['src/status/fake.ts', `export { FakeClock } from '../../test/fakes/fake-clock.ts'`, 'no-restricted-imports'],
  ['src/pods/package.ts', `export { credentials } from '@grpc/grpc-js'`, 'no-restricted-imports'],
  ['src/server/http.ts', `export { createServer } from 'node:http'`, 'no-restricted-imports'],
  ['src/server/http-type.ts', `export type { Server } from 'node:http'`, 'none'],
  ['src/pods/files.ts', `export { readFileSync } from 'node:fs'`, 'no-restricted-imports'],
  ['src/pods/files-later.ts', `export const y = () => import('node:fs/promises')`, 'no-restricted-imports'],
  ['src/pods/files-old.ts', `export { readFileSync } from 'fs'`, 'prefer-node-protocol'],
  ['src/pods/process.ts', `export { spawn } from 'node:child_process'`, 'no-restricted-imports'],
  ['src/pods/timer-import.ts', `export { setTimeout } from 'node:timers/promises'`, 'no-restricted-imports'],
  ['src/pods/timer.ts', `export const y = () => setTimeout(() => {}, 1)`, 'no-restricted-globals'],
  ['src/pods/interval.ts', `export const y = () => setInterval(() => {}, 1)`, 'no-restricted-globals'],
  ['src/pods/now.ts', `export const y = () => Date.now()`, 'no-restricted-properties'],
  ['src/pods/monotonic.ts', `export const y = () => performance.now()`, 'no-restricted-properties'],
  ['src/pods/timeout.ts', `export const y = () => AbortSignal.timeout(1)`, 'no-restricted-properties'],
  ['src/pods/chance.ts', `export const y = () => Math.random()`, 'no-restricted-properties'],
]

const effects: readonly (readonly [name: string, text: string, error: RegExp | undefined])[] = [
  ['compute-nothing.ts', `export const y = (now: number) => now + 1`, undefined],
  ['compute-with-file.ts', `export { readFileSync } from 'node:fs'`, /'node:fs'/],
  ['compute-with-process.ts', `export const y = () => process.pid`, /'process'/],
  ['compute-with-timer.ts', `export const y = () => setTimeout(() => {}, 1)`, /'setTimeout'/],
  ['compute-with-console.ts', `export const y = () => console.log(1)`, /'console'/],
  ['compute-with-signal.ts', `export const y = (signal: AbortSignal) => signal`, /'AbortSignal'/],
]

/** A small copy of the repository that the real configuration of the checkers applies to. */
function plant(t: TestContext, files: Iterable<readonly [path: string, text: string]>): string {
  const copy = mkdtempSync(join(tmpdir(), 'deckhand-layers-'))
  t.after(() => rmSync(copy, { recursive: true }))
  for (const path of ['package.json', 'oxlint.config.ts', 'tsconfig.json', 'tsconfig.pure.json', 'tools/layers.ts']) {
    cpSync(join(root, path), join(copy, path))
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    writeFileSync(join(copy, path), `${text}\n`)
  }
  return copy
}

interface LintReport {
  readonly number_of_files: number
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[]
}

function lint(folder: string, ...args: string[]): LintReport {
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint')
  const { stdout } = spawnSync(process.execPath, [oxlint, '--format', 'json', ...args], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  return JSON.parse(stdout) as LintReport
}

describe('the checkers', () => {
  test('report every import, timer and clock that does not belong there', (t) => {
    const copy = plant(
      t,
      statements.map(([file, text]) => [file, text] as const),
    )
    const { number_of_files, diagnostics } = lint(copy, 'src')
    assert.equal(number_of_files, statements.length)
    const found = (file: string) =>
      diagnostics
        .filter(({ filename }) => filename === file)
        .map(({ code }) => code.replace(/^.*\((.*)\)$/, '$1'))
        .join(', ') || 'none'
    assert.deepEqual(
      statements.map(([file]) => [file, found(file)]),
      statements.map(([file, , rule]) => [file, rule]),
    )
  })

  test('report every effect in a file that only decides', (t) => {
    const files = effects.map(([name, text]) => [`src/pods/${name}`, text] as const)
    const copy = plant(t, [...files, ['src/pods/apply-effects.ts', 'export const pid = process.pid']])
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const args = [tsc, '-p', 'tsconfig.pure.json', '--pretty', 'false', '--listFiles']
    const { stdout } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' })
    const lines = stdout.split('\n')
    for (const [name, , error] of effects) {
      assert.ok(
        lines.some((line) => line.endsWith(`/src/pods/${name}`)),
        `${name} was not looked at`,
      )
      const errors = lines.filter((line) => line.startsWith(`src/pods/${name}(`)).join('\n')
      if (error === undefined) assert.equal(errors, '')
      else assert.match(errors, error)
    }
  })

  test('look at every file of src', () => {
    const count = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.includes('/generated/'),
    ).length
    assert.ok(count > 0)
    // Which files does not depend on the rules, and without these it takes a second.
    assert.equal(lint(root, '--allow', 'all', 'src').number_of_files, count)
  })
})
