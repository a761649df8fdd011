import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { createOciArchive } from '../oci-archive.ts'
import type { ImageSource } from '../oci-archive.ts'
import { createTar } from '../tar.ts'
import { ArchiveReader } from './archive-reader.ts'

const image: ImageSource = {
  name: 'example.test/tool:1',
  files: [{ kind: 'file', path: 'tool', content: Buffer.from('#!'.repeat(5000)), mode: 0o755 }],
}
const archive = createOciArchive([image], 'amd64')

function tarOf(files: Readonly<Record<string, unknown>>): Buffer {
  return createTar(
    Object.entries(files).map(([path, value]) => {
      const content = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
      return { kind: 'file', path, content, mode: 0o644 }
    }),
  )
}

/** What comes out, when it goes in by pieces of this size. */
async function pass(content: Buffer, { name, pieceBytes = 700 }: { name?: string; pieceBytes?: number } = {}) {
  const reader = new ArchiveReader(name)
  const pieces = Array.from({ length: Math.ceil(content.length / pieceBytes) }, (_, at) =>
    content.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  )
  const passed = await buffer(Readable.from(pieces).compose(reader))
  return { names: reader.names, passed }
}

function extract(content: Buffer, path: string): string {
  return spawnSync('tar', ['--extract', '--to-stdout', '--file', '-', path], { input: content, encoding: 'utf8' })
    .stdout
}

function list(content: Buffer): string {
  return spawnSync('tar', ['--list', '--file', '-'], { input: content, encoding: 'utf8' }).stdout
}

describe('ArchiveReader', () => {
  test('passes an archive on as it is, whatever pieces it comes in, and knows the images in it', async () => {
    for (const pieceBytes of [1, 511, 512, 513, archive.length]) {
      const { names, passed } = await pass(archive, { pieceBytes })
      assert.deepEqual(names, ['example.test/tool:1'])
      assert.deepEqual(passed, archive)
    }
  })

  test('reads what GNU tar makes of a folder, in which names begin with a dot', async () => {
    const dotted = tarOf({ './index.json': { manifests: [{ annotations: { 'io.containerd.image.name': 'a:1' } }] } })
    assert.deepEqual((await pass(dotted)).names, ['a:1'])
  })

  test('gives the only image another name, for readers of both kinds', async () => {
    const { names, passed } = await pass(archive, { name: 'other.test/web:2' })
    assert.deepEqual(names, ['other.test/web:2'])
    assert.equal(list(passed), list(archive))
    const [entry] = JSON.parse(extract(passed, 'index.json')).manifests
    assert.equal(entry.annotations['io.containerd.image.name'], 'other.test/web:2')
    assert.deepEqual(JSON.parse(extract(passed, 'manifest.json'))[0].RepoTags, ['other.test/web:2'])
  })

  const tagOnly = { manifests: [{ annotations: { 'org.opencontainers.image.ref.name': '1.0' } }] }
  const named = { manifests: [{ annotations: { 'org.opencontainers.image.ref.name': 'r.test/web:1.0' } }] }
  const rows: [what: string, content: Buffer, expected: readonly string[] | RegExp, name?: string][] = [
    [
      'an archive of "docker save"',
      tarOf({ 'manifest.json': [{ RepoTags: ['web:1'] }, { RepoTags: ['db:1', 'db:2'] }] }),
      ['web:1', 'db:1'],
    ],
    ['a layout with a whole name in the reference', tarOf({ 'index.json': named }), ['r.test/web:1.0']],
    [
      'a layout with a tag alone',
      tarOf({ 'index.json': tagOnly }),
      /it has an image without a name; give it one with --name/,
    ],
    ['a layout with a tag alone, and a name', tarOf({ 'index.json': tagOnly }), ['web:9'], 'web:9'],
    ['an image of "docker save" without a tag', tarOf({ 'manifest.json': [{ RepoTags: null }] }), /without a name/],
    [
      'one name for two images',
      tarOf({ 'manifest.json': [{ RepoTags: ['a'] }, { RepoTags: ['b'] }] }),
      /it has 2 images, and --name is for one/,
      'web:9',
    ],
    ['no image', tarOf({ 'manifest.json': [] }), /it has no image/],
    ['another tar', tarOf({ 'readme.txt': 'hello' }), /it has neither index.json nor manifest.json/],
    ['a folder of that name', createTar([{ kind: 'folder', path: 'index.json', mode: 0o755 }]), /it has neither/],
    ['nothing', Buffer.alloc(0), /it is empty/],
    ['an empty tar', createTar([]), /it is empty/],
    ['a text', Buffer.from('not a tar '.repeat(100)), /it is not a tar archive/],
    ['a short text', Buffer.from('not a tar'), /it is not a tar archive/],
    ['half of it', archive.subarray(0, 3000), /it is cut off/],
    ['a list that is no JSON', tarOf({ 'index.json': '{' }), /its index.json is not JSON/],
    ['a list that is none', tarOf({ 'index.json': { manifests: 'x' } }), /its index.json does not list images/],
    ['entries that are none', tarOf({ 'manifest.json': [1] }), /its manifest.json does not list images/],
    [
      'a list too large',
      tarOf({ 'index.json': ' '.repeat(5_000_000) }),
      /its index.json has 5000000 bytes, expected at most 4194304/,
    ],
  ]
  for (const [what, content, expected, name] of rows) {
    test(`takes or rejects ${what}`, async () => {
      const outcome = pass(content, name === undefined ? {} : { name })
      if (expected instanceof RegExp) await assert.rejects(outcome, expected)
      else assert.deepEqual((await outcome).names, expected)
    })
  }
})
