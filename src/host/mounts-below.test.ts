import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMountsBelow } from './mounts-below.ts'

test('parseMountsBelow() finds the mounts of a folder, latest first', () => {
  const mountinfo = [
    '24 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
    '30 24 0:26 / /state rw - tmpfs tmpfs rw',
    '31 24 0:27 / /state-of-others rw - tmpfs tmpfs rw',
    '32 30 0:28 / /state/a\\040b/merged rw shared:5 - overlay overlay rw',
    '33 32 0:29 / /state/a\\040b/merged/x rw - tmpfs tmpfs rw',
    '',
  ].join('\n')
  assert.deepEqual(parseMountsBelow(mountinfo, '/state'), ['/state/a b/merged/x', '/state/a b/merged', '/state'])
})
