import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { openKernelLog } from './kernel-log.ts'

describe('openKernelLog()', () => {
  test('never waits for what is not there yet', async () => {
    const path = `${makeTemporaryFolder()}/log`
    execFileSync('mkfifo', [path])
    await using writer = await open(path, 'r+')
    using log = openKernelLog(path)
    assert.equal(log.next(), undefined)
    await writer.write('6,1,1,-;one\n')
    assert.equal(log.next(), '6,1,1,-;one\n')
    assert.equal(log.next(), undefined)
  })

  test('ends with what there is', () => {
    const path = `${makeTemporaryFolder()}/log`
    writeFileSync(path, 'all')
    using log = openKernelLog(path)
    assert.deepEqual([log.next(), log.next()], ['all', undefined])
  })

  test('fails where there is none', () => {
    assert.throws(() => openKernelLog('/nowhere/kmsg'), /ENOENT/)
  })
})
