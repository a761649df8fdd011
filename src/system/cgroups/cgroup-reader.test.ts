import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { createCgroupReader } from './cgroup-reader.ts'

describe('createCgroupReader()', () => {
  for (const [version, folder] of [
    [1, 'memory/pods/a'],
    [2, 'pods/a'],
  ] as const)
    test(`reads cgroup v${version}`, async () => {
      const mount = makeTemporaryFolder()
      await mkdir(join(mount, folder), { recursive: true })
      await writeFile(join(mount, folder, 'memory.stat'), 'anon 1\n')
      const reader = createCgroupReader(version, mount)
      assert.deepEqual(
        [
          reader.read('memory', '/pods/a', 'memory.stat'),
          reader.read('memory', '/pods/b', 'memory.stat'),
          reader.exists('/pods/a'),
          reader.exists('/pods/b'),
          reader.exists('/pods/a', 'blkio'),
          reader.children('/pods'),
          reader.children('/absent'),
        ],
        ['anon 1\n', undefined, true, false, version === 2, ['a'], []],
      )
    })
})
