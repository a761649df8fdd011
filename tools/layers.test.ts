import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { checkLayers } from './check-layers.ts'
import { criMessages, layers, owners } from './layers.ts'

const root = join(import.meta.dirname, '..')
const folders = Object.keys(layers)

describe('layers', () => {
  test('has every folder of src, and no other', () => {
    const inRows = (folder: string): readonly string[] =>
      readdirSync(join(root, 'src', folder), { withFileTypes: true }).flatMap((entry) => {
        const path = join(folder, entry.name)
        const hasRows = folders.some((row) => row.startsWith(`${path}/`))
        return hasRows ? inRows(path) : folder === '' && entry.isFile() ? [] : [path]
      })
    assert.deepEqual(folders.toSorted(), inRows('').toSorted())
  })

  test('has two files beside the shelves: the two programs', () => {
    const loose = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => !entry.isDirectory())
    assert.deepEqual(loose.map(({ name }) => name).sort(), ['deckhand.ts', 'main.ts'])
  })

  test('lets a folder import only folders above it, so that there is no cycle', () => {
    const below = folders.flatMap((folder, index) =>
      (layers[folder] ?? [])
        .filter((entry) => !isAbove(entry, folders.slice(0, index)))
        .map((entry) => `${folder} lists ${entry}`),
    )
    assert.deepEqual(below, [])
  })

  test('keeps the agent and the API server apart', () => {
    const agent = ['pods', 'node', 'serving', 'agent', 'metrics']
    const ofServer = layers['api-server'] ?? []
    assert.deepEqual(
      ofServer.filter((entry) => agent.includes(entry.split('/')[0] ?? '')),
      [],
    )
    assert.deepEqual(
      folders.filter((folder) => layers[folder]?.includes('api-server')),
      ['standalone'],
    )
  })

  test('names only folders that exist as owners', () => {
    assert.deepEqual(
      Object.values(owners)
        .flat()
        .filter((entry) => !folders.some((folder) => folder === entry || folder.startsWith(`${entry}/`))),
      [],
    )
  })

  test("lists as users of CRI's messages only folders that may import CRI", () => {
    assert.deepEqual(
      Object.keys(criMessages).filter((folder) => !layers[folder]?.includes('protocols/cri')),
      [],
    )
  })
})

/** Is this folder, or every folder of this shelf, among these? */
function isAbove(entry: string, above: readonly string[]): boolean {
  const meant = folders.filter((folder) => folder === entry || folder.startsWith(`${entry}/`))
  return meant.length > 0 && meant.every((folder) => above.includes(folder))
}

// One statement per row: its file, its text, the expected report. "none" is the control group.
const imports: readonly (readonly [file: string, text: string, fault: string])[] = [
  ['src/pods/status/value.ts', `export { podText } from '../../model/pod/pod.ts'`, 'none'],
  ['src/pods/status/value.test.ts', `import '../sync/worker.ts'`, 'none'],
  ['src/base/async/sleep.ts', `export { setTimeout } from 'node:timers/promises'`, 'none'],
  ['src/system/files/read.ts', `export { readFileSync } from 'node:fs'`, 'none'],
  ['src/agent/all.ts', `export { x } from '../pods/sync/worker.ts'`, 'none'],
  ['src/main.ts', `export { x } from './pods/sync/worker.ts'`, 'none'],
  ['src/serving/http/type.ts', `export type { Server } from 'node:http'`, 'none'],
  ['src/pods/status/plain.ts', `import { x } from '../sync/worker.ts'`, 'src/pods/status may not import src/pods/sync'],
  ['src/pods/status/type.ts', `import type { X } from '../sync/a.ts'`, 'src/pods/status may not import src/pods/sync'],
  ['src/pods/status/lines.ts', `import {\n  x,\n} from '../sync/a.ts'`, 'src/pods/status may not import src/pods/sync'],
  ['src/pods/status/bare.ts', `import '../sync/a.ts'`, 'src/pods/status may not import src/pods/sync'],
  ['src/pods/status/again.ts', `export { x } from '../sync/a.ts'`, 'src/pods/status may not import src/pods/sync'],
  ['src/pods/status/all.ts', `export * from '../sync/a.ts'`, 'src/pods/status may not import src/pods/sync'],
  [
    'src/pods/status/later.ts',
    `const y = () => import('../sync/a.ts')`,
    'src/pods/status may not import src/pods/sync',
  ],
  ['src/model/config/fields/deep.ts', `export { x } from '../../../pods/sync/a.ts'`, 'may not import src/pods/sync'],
  [
    'src/api-server/rest/agent.ts',
    `export { x } from '../../node/stats/a.ts'`,
    'src/api-server may not import src/node',
  ],
  ['src/api-server/rest/root.ts', `export { x } from '../../agent/a.ts'`, 'src/api-server may not import src/agent'],
  ['src/pods/sync/api.ts', `export { x } from '../../api-server/a.ts'`, 'src/pods/sync may not import src/api-server'],
  ['src/agent/api.ts', `export { x } from '../api-server/a.ts'`, 'src/agent may not import src/api-server'],
  ['src/node/stats/program.ts', `export { x } from '../../main.ts'`, 'src/node/stats may not import a program'],
  ['src/pods/status/fake.ts', `export { x } from '../../../test/fakes/fake-clock.ts'`, 'Nothing in src imports'],
  ['src/pods/observe/message.ts', `import { Container } from '../../protocols/cri/generated/runtime-v1.ts'`, 'none'],
  ['src/protocols/cri/message.ts', `import { Container } from './generated/runtime-v1.ts'`, 'none'],
  ['src/protocols/cri/generated/codec.ts', `import { BinaryReader } from "@bufbuild/protobuf/wire";`, 'none'],
  ['src/node/devices/methods.ts', `import { CONTAINER_RUNNING } from '../../protocols/cri/cri-methods.ts'`, 'none'],
  ['src/node/stats/response.ts', `import type { CriResponse } from '../../protocols/cri/cri-methods.ts'`, 'none'],
  [
    'src/node/devices/message.ts',
    `import type { Container } from '../../protocols/cri/generated/runtime-v1.ts'`,
    'Only src/protocols/cri, src/pods/containers',
  ],
  [
    'src/node/devices/response.ts',
    `import type { CriMethod, CriResponse } from '../../protocols/cri/cri-methods.ts'`,
    'Only src/protocols/cri, src/pods/containers',
  ],
  [
    'src/agent/request.ts',
    `import type { CriRequest } from '../protocols/cri/cri-methods.ts'`,
    'Only src/protocols/cri, src/pods/containers',
  ],
  [
    'src/agent/message.ts',
    `export { Container } from '../protocols/cri/generated/runtime-v1.ts'`,
    'Only src/protocols/cri, src/pods/containers',
  ],
  [
    'src/protocols/cri/codec.ts',
    `export { BinaryReader } from '@bufbuild/protobuf/wire'`,
    'Only generated codecs use it',
  ],
  ['src/pods/sync/codec.ts', `export { BinaryReader } from '@bufbuild/protobuf/wire'`, 'Only generated codecs use it'],
  [
    'src/pods/sync/generated/codec.ts',
    `import { BinaryReader } from "@bufbuild/protobuf/wire";`,
    'Only src/protocols/grpc, src/protocols/cri',
  ],
  ['src/protocols/cri/package.ts', `export { credentials } from '@grpc/grpc-js'`, 'Only src/protocols/grpc may use it'],
  ['src/pods/sync/package.ts', `export { credentials } from '@grpc/grpc-js'`, 'Only src/protocols/grpc'],
  ['src/pods/sync/new-package.ts', `export { pad } from 'left-pad'`, 'No folder owns this package'],
  [
    'src/serving/http/http.ts',
    `export { createServer } from 'node:http'`,
    'Take its values from src/base/builtin/http.ts',
  ],
  ['src/pods/sync/files.ts', `export { readFileSync } from 'node:fs'`, 'Only src/system may use it'],
  ['src/pods/sync/files-later.ts', `const y = () => import('node:fs/promises')`, 'Only src/system may use it'],
  ['src/pods/sync/process.ts', `export { spawn } from 'node:child_process'`, 'Only src/system may use it'],
  [
    'src/pods/sync/timer-import.ts',
    `export { setTimeout } from 'node:timers/promises'`,
    'Only src/base/async may use it',
  ],
  ['src/other/value.ts', `export const x = 1`, 'its folder is not in tools/layers.ts'],
]

const statements: readonly (readonly [file: string, text: string, rule: string])[] = [
  ['src/pods/sync/plain.ts', `export const y = 1`, 'none'],
  ['src/base/async/timer.ts', `export const y = () => setTimeout(() => {}, 1)`, 'none'],
  ['src/pods/sync/files-old.ts', `export { readFileSync } from 'fs'`, 'prefer-node-protocol'],
  ['src/pods/sync/timer.ts', `export const y = () => setTimeout(() => {}, 1)`, 'no-restricted-globals'],
  ['src/pods/sync/interval.ts', `export const y = () => setInterval(() => {}, 1)`, 'no-restricted-globals'],
  ['src/pods/sync/now.ts', `export const y = () => Date.now()`, 'no-restricted-properties'],
  ['src/pods/sync/monotonic.ts', `export const y = () => performance.now()`, 'no-restricted-properties'],
  ['src/pods/sync/timeout.ts', `export const y = () => AbortSignal.timeout(1)`, 'no-restricted-properties'],
  ['src/pods/sync/chance.ts', `export const y = () => Math.random()`, 'no-restricted-properties'],
]

const effects: readonly (readonly [name: string, text: string, error: RegExp | undefined])[] = [
  ['compute-nothing.ts', `export const y = (now: number) => now + 1`, undefined],
  ['compute-with-file.ts', `export { readFileSync } from 'node:fs'`, /'node:fs'/],
  ['compute-with-process.ts', `export const y = () => process.pid`, /'process'/],
  ['compute-with-timer.ts', `export const y = () => setTimeout(() => {}, 1)`, /'setTimeout'/],
  ['compute-with-console.ts', `export const y = () => console.log(1)`, /'console'/],
  ['compute-with-signal.ts', `export const y = (signal: AbortSignal) => signal`, /'AbortSignal'/],
]

// A program, its guarded child and their tests; what only tests use is marked by its name.
const programs: readonly (readonly [file: string, text: string])[] = [
  ['src/main.ts', `import { used } from './part.ts'\nused()`],
  ['src/deckhand.ts', `export {}`],
  ['src/system/guarded/child/answer-requests.ts', `export {}`],
  ['src/part.ts', `export const onlyTested = 1\nexport const ownHelper = 2\nexport const used = () => ownHelper`],
  ['src/only-tested.ts', `export const x = 1`],
  [
    'src/part.test.ts',
    `import { onlyTested, ownHelper } from './part.ts'\nimport { x } from './only-tested.ts'\nimport { planted } from '../test/planted.ts'\nplanted(onlyTested, ownHelper, x)`,
  ],
  ['test/planted.ts', `export const planted = (...values: number[]) => values`],
]

const configs = ['oxlint.config.ts', 'knip.config.ts', 'tsconfig.json', 'tsconfig.pure.json']

/** A small copy of the repository that the real configuration of the checkers applies to. */
function plant(t: TestContext, files: Iterable<readonly [path: string, text: string]>): string {
  const copy = mkdtempSync(join(tmpdir(), 'deckhand-layers-'))
  t.after(() => rmSync(copy, { recursive: true }))
  for (const path of ['package.json', ...configs, 'tools/layers.ts']) {
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
  test('report every import that does not belong there', (t) => {
    const copy = plant(
      t,
      imports.map(([file, text]) => [file, text] as const),
    )
    const { files, faults } = checkLayers(copy)
    assert.equal(files, imports.filter(([file]) => !file.endsWith('.test.ts')).length)
    for (const [file, , fault] of imports) {
      const found = faults.filter((each) => each.startsWith(`${file}:`))
      assert.equal(found.length, fault === 'none' ? 0 : 1, `${file}: ${found.join()}`)
      if (fault !== 'none') assert.ok(found.join().includes(fault), found.join())
    }
  })

  test('report every timer and clock that does not belong there', (t) => {
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
    const files = effects.map(([name, text]) => [`src/pods/sync/${name}`, text] as const)
    const copy = plant(t, [...files, ['src/pods/sync/apply-effects.ts', 'export const pid = process.pid']])
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const args = [tsc, '-p', 'tsconfig.pure.json', '--pretty', 'false', '--listFiles']
    const { stdout } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' })
    const lines = stdout.split('\n')
    for (const [name, , error] of effects) {
      assert.ok(
        lines.some((line) => line.endsWith(`/src/pods/sync/${name}`)),
        `${name} was not looked at`,
      )
      const errors = lines.filter((line) => line.startsWith(`src/pods/sync/${name}(`)).join('\n')
      if (error === undefined) assert.equal(errors, '')
      else assert.match(errors, error)
    }
  })

  test('report code that only tests use', (t) => {
    const copy = plant(t, programs)
    const args = [join(root, 'node_modules/knip/bin/knip.js'), '--include', 'files,exports', '--reporter', 'compact']
    const knip = (...more: string[]) => spawnSync(process.execPath, [...args, ...more], { cwd: copy, encoding: 'utf8' })
    assert.equal(knip().stdout, '')
    assert.deepEqual(knip('--production').stdout.match(/^src\/.*$/gm), [
      'src/only-tested.ts: src/only-tested.ts',
      'src/part.ts: onlyTested',
    ])
  })

  test('check every file of src', () => {
    assert.ok(checkLayers(root).files > 0)
    const count = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => /\.tsx?$/.test(name) && !name.includes('/generated/'),
    ).length
    assert.ok(count > 0)
    // Which files does not depend on the rules, and without these it takes a second.
    assert.equal(lint(root, '--allow', 'all', 'src').number_of_files, count)
  })
})
