import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { readNameServers } from './read-name-servers.ts'

test('the servers of the machine are read, but not our own: it would ask itself for ever', async () => {
  const file = join(makeTemporaryFolder(), 'resolv.conf')
  assert.deepEqual(await readNameServers([], file), [])
  writeFileSync(
    file,
    '# servers\nsearch example.org\nnameserver 10.124.0.10\n nameserver 192.0.2.1\nnameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n',
  )
  assert.deepEqual(await readNameServers(['10.124.0.10'], file), ['192.0.2.1', '192.0.2.2'])
})
