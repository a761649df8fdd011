import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { createTar } from './tar.ts'

describe('createTar()', () => {
  test('makes what tar reads', () => {
    const archive = createTar([
      { kind: 'folder', path: 'bin', mode: 0o755 },
      { kind: 'folder', path: 'tmp', mode: 0o1777 },
      { kind: 'file', path: 'bin/tool', content: Buffer.from('x'.repeat(513)), mode: 0o755 },
      { kind: 'file', path: 'empty', content: new Uint8Array(), mode: 0o600 },
      { kind: 'symlink', path: 'bin/sh', target: 'tool' },
    ])
    const listing = spawnSync('tar', ['--list', '--verbose', '--numeric-owner', '--utc', '--file', '-'], {
      input: archive,
      encoding: 'utf8',
    })
    assert.equal(listing.stderr, '')
    assert.deepEqual(
      listing.stdout
        .trim()
        .split('\n')
        .map((line) => line.replaceAll(/ +/g, ' ')),
      [
        'drwxr-xr-x 0/0 0 1970-01-01 00:00 bin/',
        'drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/',
        '-rwxr-xr-x 0/0 513 1970-01-01 00:00 bin/tool',
        '-rw------- 0/0 0 1970-01-01 00:00 empty',
        'lrwxrwxrwx 0/0 0 1970-01-01 00:00 bin/sh -> tool',
      ],
    )
    const content = spawnSync('tar', ['--extract', '--to-stdout', '--file', '-', 'bin/tool'], { input: archive })
    assert.equal(content.stdout.toString(), 'x'.repeat(513))
  })

  test('rejects a name that its format has no room for', () => {
    const path = 'x'.repeat(101)
    assert.throws(() => createTar([{ kind: 'folder', path, mode: 0o755 }]), /Cannot put "x+\/" into a tar archive/)
  })
})
