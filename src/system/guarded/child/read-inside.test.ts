import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { readInside } from './read-inside.ts'

test('readInside() reads regular files only, up to a size, through links that stay inside', () => {
  const root = makeTemporaryFolder()
  const read = (path: string, maxBytes = 10) =>
    Buffer.from(readInside({ root, path, maxBytes }), 'base64').toString('latin1')
  mkdirSync(join(root, '..version'))
  writeFileSync(join(root, '..version/key'), Buffer.from([0, 0xff, 0x41]))
  symlinkSync('..version', join(root, '..data'))
  symlinkSync('..data/key', join(root, 'key'))
  assert.equal(read('key', 3), '\0\xffA')
  assert.throws(() => read('key', 2), { code: 'EFBIG', message: 'Cannot read "key": more than 2 bytes' })
  symlinkSync('/etc/passwd', join(root, 'out'))
  assert.throws(() => read('out', 100_000), { code: 'EXDEV' })
  execFileSync('mkfifo', [join(root, 'fifo')])
  for (const path of ['fifo', '..version'])
    assert.throws(() => read(path), { code: 'EINVAL', message: `Cannot read "${path}": it is no regular file` })
  assert.throws(() => read('absent'), { code: 'ENOENT' })
})
