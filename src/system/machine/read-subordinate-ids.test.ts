import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { systemClock } from '../../base/async/clock.ts'
import { readSubordinateIds } from './read-subordinate-ids.ts'

const never = new AbortController().signal

describe('readSubordinateIds()', () => {
  let folder: string
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'subids-'))))
  afterEach(() => rm(folder, { recursive: true }))

  async function setUp(users: string, script?: string) {
    await writeFile(join(folder, 'passwd'), users)
    if (script !== undefined) await writeFile(join(folder, 'getsubids'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return readSubordinateIds({ clock: systemClock, path: folder, passwd: join(folder, 'passwd') }, never)
  }

  test('asks for the ids of the user kubelet', async () => {
    const ids = await setUp('root:x:0:0::/:/bin/sh\nkubelet:x:998:998::/:/bin/false\n', 'echo "0: $*"')
    assert.deepEqual(ids, { uids: '0: kubelet\n', gids: '0: -g kubelet\n' })
  })

  test('asks no program where there is no such user', async () => {
    assert.equal(await setUp('root:x:0:0::/:/bin/sh\nkubelet2:x:1:1::/:/bin/sh\n', 'exit 1'), undefined)
  })

  test('has no ids where there is no such program', async () => {
    assert.equal(await setUp('kubelet:x:998:998::/:/bin/false\n'), undefined)
  })

  test('fails when the user has no ids', async () => {
    await assert.rejects(setUp('kubelet:x:998:998::/:/bin/false\n', 'echo no ranges >&2; exit 1'), /getsubids/)
  })
})
