import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, test } from 'node:test'
import { BUSYBOX_IMAGE, createNodeImages } from './node-images.ts'

const APPLETS = ['busybox', 'sh', 'wget', 'which']
const NAMES = `code\0${APPLETS.join('\0')}\0`

function makeFiles(given: {
  readonly names?: string
  readonly hasWgetTimeout?: boolean
  readonly libraries?: string[]
}) {
  const { names = NAMES, hasWgetTimeout = false, libraries = [] } = given
  const busybox = createNodeImages({
    catatonit: Buffer.alloc(0),
    busybox: Buffer.from(names),
    applets: APPLETS,
    libraries: new Map(libraries.map((path) => [path, Buffer.from(path)])),
    hasWgetTimeout,
  }).find(({ name }) => name === BUSYBOX_IMAGE)
  return new Map(busybox?.files.map((file) => [file.path, file]))
}

/** Runs a program of the image, with a line of shell in the place of the real busybox. */
function runInImage([program = '', ...args]: readonly string[], line: string) {
  const folder = mkdtempSync(`${tmpdir()}/wget-`)
  const busybox = `${folder}/program`
  try {
    const files = makeFiles({})
    for (const name of ['wget', 'busybox']) {
      const file = files.get(`bin/${name}`)
      assert.ok(file?.kind === 'file')
      assert.equal(file.mode, 0o755)
      const text = Buffer.from(file.content)
        .toString()
        .replaceAll(/\/lib\/(?:busybox|wget)\/busybox/gv, busybox)
      writeFileSync(`${folder}/${name}`, text, { mode: 0o755 })
    }
    writeFileSync(busybox, `#!/bin/sh\n${line}\n`, { mode: 0o755 })
    const env = { PATH: `${folder}:/usr/bin:/bin` }
    const { stdout, stderr, status } = spawnSync(`${folder}/${program}`, args, { env, encoding: 'utf8' })
    return { stdout, stderr, status, busybox }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('the busybox image', () => {
  for (const [title, given] of [
    ['a wget with a limit in time', { hasWgetTimeout: true }],
    ['its applets in no list that we know', { names: 'code' }],
  ] as const) {
    test(`has the busybox of the machine as it is where that has ${title}`, () => {
      const files = makeFiles(given)
      const busybox = files.get('bin/busybox')
      assert.ok(busybox?.kind === 'file')
      assert.equal(Buffer.from(busybox.content).toString(), 'names' in given ? given.names : NAMES)
      for (const applet of ['sh', 'wget']) {
        assert.deepEqual(files.get(`bin/${applet}`), { kind: 'symlink', path: `bin/${applet}`, target: 'busybox' })
      }
    })
  }

  test('hides a wget that crashes from the shell of busybox', () => {
    const files = makeFiles({})
    const program = files.get('lib/busybox/busybox')
    assert.ok(program?.kind === 'file')
    // In the order that busybox searches.
    assert.equal(Buffer.from(program.content).toString(), 'code\0busyboX\0sh\0wgeT\0which\0')
    // For wget itself, which says its name.
    const original = files.get('lib/wget/busybox')
    assert.ok(original?.kind === 'file')
    assert.equal(Buffer.from(original.content).toString(), NAMES)
    const target = '../lib/busybox/busybox'
    assert.deepEqual(files.get('bin/sh'), { kind: 'symlink', path: 'bin/sh', target })
    for (const path of ['bin/wget', 'bin/busybox']) assert.equal(files.get(path)?.kind, 'file')
  })

  test('has the libraries that busybox is loaded with, once each, in folders that others can read', () => {
    const libraries = ['/lib/x86_64-linux-gnu/libc.so.6', '/lib64/ld-linux-x86-64.so.2']
    for (const hasWgetTimeout of [false, true]) {
      const files = makeFiles({ hasWgetTimeout, libraries })
      for (const path of ['lib', 'lib/x86_64-linux-gnu', 'lib64']) {
        assert.deepEqual(files.get(path), { kind: 'folder', path, mode: 0o755 })
      }
      for (const path of libraries) {
        const content = Buffer.from(path)
        assert.deepEqual(files.get(path.slice(1)), { kind: 'file', path: path.slice(1), content, mode: 0o755 })
      }
    }
  })

  const rows: [given: readonly string[], run: string][] = [
    [['wget', '-q', '-O', '-', 'http://a b/'], 'wget|-q|-O|-|http://a b/'],
    [['wget', '-T', '2', '-q', 'http://a/'], 'timeout|2|BUSYBOX|wget|-q|http://a/'],
    [['wget', '-q', '-T5', 'http://a/'], 'timeout|5|BUSYBOX|wget|-q|http://a/'],
    [['wget', '--timeout=3', 'http://a/'], 'timeout|3|BUSYBOX|wget|http://a/'],
    [['wget', '--timeout', '3', 'http://a/'], 'timeout|3|BUSYBOX|wget|http://a/'],
    [['wget', '-qT', '3', 'http://a/', '-O-'], 'timeout|3|BUSYBOX|wget|-q|http://a/|-O-'],
    [['wget', '-qT3', 'http://a/', '-O-'], 'timeout|3|BUSYBOX|wget|-q|http://a/|-O-'],
    [['wget'], 'wget'],
    [['busybox', 'wget', '-T', '2', 'http://a/'], 'timeout|2|BUSYBOX|wget|http://a/'],
    [['busybox', 'echo', 'a b'], 'echo|a b'],
    [['busybox'], ''],
  ]
  for (const [argv, run] of rows) {
    test(`runs ${argv.join(' ')}`, () => {
      const { stdout, busybox } = runInImage(argv, 'IFS="|"; printf %s "$*"')
      assert.equal(stdout, run.replace('BUSYBOX', busybox))
    })
  }

  test('says when the time was over, as a wget with a limit does, and else what wget says', () => {
    const ended = (line: string) => {
      const { stderr, status } = runInImage(['wget', '-T', '2', 'http://a/'], line)
      // Shells say themselves that a signal ended a program.
      return [stderr.replace(/^Terminated\n/, ''), status]
    }
    assert.deepEqual(ended('kill -TERM $$'), ['wget: download timed out\n', 1])
    assert.deepEqual(ended('exit 5'), ['', 5])
    assert.deepEqual(ended('exit 0'), ['', 0])
  })
})
