import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { readFileSystemSpace } from './file-system-space.ts'

test('readFileSystemSpace() reads the size of a file system', async () => {
  const { capacityBytes, availableBytes } = await readFileSystemSpace(tmpdir())
  assert.ok(capacityBytes >= availableBytes && availableBytes > 0)
  await assert.rejects(readFileSystemSpace('/no/such/place'), /ENOENT/)
})
