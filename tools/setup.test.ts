import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'

const script = join(import.meta.dirname, 'setup.mjs')
const packages = {
  '': {},
  'node_modules/a': { version: '1.0.0' },
  'node_modules/b': { version: '2.0.0', optional: true },
}

interface Machine {
  readonly userId: number
  /** What npm installed before; undefined: nothing. */
  readonly installed?: object
  /** Is what was built newer than the sources? It is by default. */
  readonly isBuilt?: boolean
  /** Exit code of the checkout's own programs. */
  readonly nodeStatus?: number
  /** Programs on PATH; each writes its arguments to the file "calls". */
  readonly programs?: Readonly<Record<string, number>>
}

/** Runs a copy of the script in a checkout of its own, on a machine that has nothing but what is given. */
function setUp(t: TestContext, purpose: string, machine: Machine) {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-setup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const name of ['tools', 'node_modules', 'path', 'src', 'bin', 'dist']) mkdirSync(join(folder, name))
  cpSync(script, join(folder, 'tools/setup.mjs'))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }))
  writeFileSync(join(folder, 'src/main.ts'), '')
  if (machine.isBuilt !== false) writeFileSync(join(folder, 'dist/made'), '')
  for (const name of ['node', 'kubelet', 'deckhand']) writeProgram(folder, `bin/${name}`, machine.nodeStatus ?? 0)
  if (machine.installed !== undefined) {
    writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify({ packages: machine.installed }))
  }
  for (const [name, exitCode] of Object.entries(machine.programs ?? {})) {
    writeProgram(folder, `path/${name}`, exitCode)
  }
  const user = `data:text/javascript,process.getuid = () => ${machine.userId}`
  const { status, stderr } = spawnSync(process.execPath, ['--import', user, 'tools/setup.mjs', purpose], {
    cwd: folder,
    env: { PATH: join(folder, 'path') },
    encoding: 'utf8',
  })
  const calls = existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8') : ''
  return { status, stderr, calls }
}

function writeProgram(folder: string, path: string, exitCode: number): void {
  const program = join(folder, path)
  writeFileSync(program, `#!/bin/sh\necho "${basename(path)} $*" >>"${folder}/calls"\nexit ${exitCode}\n`)
  chmodSync(program, 0o755)
}

const installed = { 'node_modules/a': { version: '1.0.0' } }

describe('setup', () => {
  test('says without root that it needs it, and what is missing', (t) => {
    for (const [purpose, command] of [
      ['runtime', 'start'],
      ['test', 'test'],
    ] as const) {
      const { status, stderr, calls } = setUp(t, purpose, { userId: 65_534, installed })
      assert.deepEqual([status, calls], [1, 'node --version\n'])
      assert.match(stderr, /^setup: This needs root: /)
      assert.match(stderr, /\nMissing Debian packages: apt-get install containerd /)
      assert.match(stderr, new RegExp(`\\nRun it again as root \\(sudo npm ${command}\\)\\.\n$`))
    }
  })

  test('needs no root for the fast gate', (t) => {
    assert.deepEqual(setUp(t, 'check', { userId: 65_534, installed }), { status: 0, stderr: '', calls: '' })
  })

  test('installs the npm packages when they are missing, old or more than wanted', (t) => {
    for (const found of [
      undefined,
      {},
      { 'node_modules/a': { version: '0.9.0' } },
      { ...installed, 'node_modules/c': { version: '1.0.0' } },
    ]) {
      const machine = { userId: 0, ...(found && { installed: found }), programs: { npm: 0 } }
      const { status, calls } = setUp(t, 'check', machine)
      assert.deepEqual([status, calls], [0, 'npm ci --include=dev --ignore-scripts --no-fund --loglevel=error\n'])
    }
  })

  test('stops when npm fails', (t) => {
    const { status, stderr } = setUp(t, 'check', { userId: 0, programs: { npm: 1 } })
    assert.equal(status, 1)
    assert.match(stderr, /\nsetup: Cannot install the npm packages: see the output above\n$/)
  })

  test('installs the Debian packages that are missing, with new lists when the old ones do not do', (t) => {
    const good = setUp(t, 'test', { userId: 0, installed, programs: { 'apt-get': 0 } })
    assert.equal(good.status, 0)
    assert.match(good.calls, /^node --version\napt-get install -y -q --no-install-recommends containerd .*\n$/)
    assert.doesNotMatch(good.calls, /libatomic1/)
    const bad = setUp(t, 'test', { userId: 0, installed, programs: { 'apt-get': 100 } })
    assert.equal(bad.status, 1)
    assert.match(bad.calls, /^node --version\napt-get install .*\napt-get update -q\n$/)
    assert.match(bad.stderr, /setup: Cannot read the package lists: see the output above\n$/)
  })

  test('installs what our Node needs when it does not run', (t) => {
    const { calls } = setUp(t, 'test', { userId: 0, installed, programs: { 'apt-get': 0 }, nodeStatus: 127 })
    assert.match(calls, /\napt-get install .* libatomic1\n/)
  })

  test('builds what is older than its sources, and goes on with those when it cannot', (t) => {
    const machine = { userId: 0, installed, programs: { 'apt-get': 0 }, isBuilt: false }
    const good = setUp(t, 'test', machine)
    assert.equal(good.status, 0)
    assert.match(good.calls, /\nnode \S+\/tools\/build\.ts\nkubelet --version\ndeckhand version\n$/)
    const bad = setUp(t, 'test', { ...machine, nodeStatus: 1 })
    assert.equal(bad.status, 0)
    assert.match(bad.stderr, /\nsetup: Cannot build: see the output above; going on with the sources\n$/)
  })

  test('says what to install where there is no apt-get', (t) => {
    const { status, stderr } = setUp(t, 'runtime', { userId: 0, installed })
    assert.equal(status, 1)
    assert.match(stderr, /Missing programs, and no apt-get to install them\. Install the equivalents of: containerd /)
  })

  test('refuses a purpose that it does not know', (t) => {
    const { status, stderr } = setUp(t, 'party', { userId: 0 })
    assert.deepEqual(
      [status, stderr],
      [1, 'setup: Unknown purpose "party": expected check, package, runtime, test, vm\n'],
    )
  })

  test('packages without root with what is there', (t) => {
    const { status, calls } = setUp(t, 'package', { userId: 1000, installed: packages })
    assert.deepEqual([status, calls], [0, ''])
  })
})

describe('npm audit', () => {
  const root = join(import.meta.dirname, '..')
  // In the words of flags, of .npmrc and of the environment.
  const SWITCHED_OFF =
    /--no-audit|--audit[= ]+false|\baudit\s*=\s*(?:false|no|off|0)\b|npm_config_audit|"audit"\s*:\s*false/i

  for (const name of ['tools/setup.mjs', '.npmrc', 'package.json'])
    test(`is not switched off in ${name}`, () => {
      assert.doesNotMatch(readFileSync(join(root, name), 'utf8'), SWITCHED_OFF)
    })

  for (const text of ['npm ci --no-audit', "'--no-audit'", 'audit=false', 'audit = false', 'npm_config_audit=false'])
    test(`would be found to be, by ${text}`, () => assert.match(text, SWITCHED_OFF))
})
