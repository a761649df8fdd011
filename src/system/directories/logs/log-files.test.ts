import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { logFiles } from './log-files.ts'

describe('logFiles', () => {
  let folder: string
  const at = (name: string) => join(folder, name)
  const compression = () => ({ path: at('a'), temporary: at('a.tmp'), target: at('a.gz') })
  const never = new AbortController().signal

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'log-files-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('measures a file, and reports when there is none', async () => {
    writeFileSync(at('a'), '12345')
    assert.deepEqual([await logFiles.size(at('a')), await logFiles.size(at('b'))], [5, undefined])
  })

  test('follows no link and takes no directory for a log', async () => {
    writeFileSync(at('secret'), 'x')
    symlinkSync(at('secret'), at('a'))
    await assert.rejects(logFiles.size(at('a')), { name: 'LogFileError', message: /expected a regular file/ })
    await assert.rejects(logFiles.size(folder), { name: 'LogFileError' })
    await assert.rejects(logFiles.compress(compression(), never), { code: 'ELOOP' })
    assert.deepEqual(readdirSync(folder).sort(), ['a', 'secret'])
  })

  test('leaves the log to Docker that Docker keeps', async () => {
    const id = 'a'.repeat(64)
    symlinkSync(`/var/lib/docker/containers/${id}/${id}-json.log`, at('a'))
    assert.equal(await logFiles.size(at('a')), 'elsewhere')
  })

  test('does not wait for a pipe', async () => {
    execFileSync('/usr/bin/mkfifo', [at('a')])
    await assert.rejects(logFiles.compress(compression(), never), { name: 'LogFileError' })
    assert.deepEqual(readdirSync(folder), ['a'])
  })

  test('compresses all of a file and keeps its mode', async () => {
    const content = randomBytes(3_000_000)
    writeFileSync(at('a'), content)
    chmodSync(at('a'), 0o666)
    await logFiles.compress(compression(), never)
    assert.deepEqual(readdirSync(folder), ['a.gz'])
    assert.ok(gunzipSync(readFileSync(at('a.gz'))).equals(content))
    assert.equal(statSync(at('a.gz')).mode & 0o777, 0o666)
  })

  test('leaves the file as it was when it is aborted', async () => {
    writeFileSync(at('a'), randomBytes(3_000_000))
    const controller = new AbortController()
    const reason = new Error('enough')
    const end = assert.rejects(logFiles.compress(compression(), controller.signal), (error) => error === reason)
    controller.abort(reason)
    await end
    assert.deepEqual(readdirSync(folder), ['a'])
    assert.equal(statSync(at('a')).size, 3_000_000)
  })

  test('overwrites nothing while it compresses, and is content to remove what is gone', async () => {
    writeFileSync(at('a'), 'x')
    symlinkSync(at('elsewhere'), at('a.tmp'))
    await assert.rejects(logFiles.compress(compression(), never), { code: 'EEXIST' })
    assert.deepEqual([existsSync(at('elsewhere')), existsSync(at('a'))], [false, true])
    await logFiles.remove(at('a'))
    await logFiles.remove(at('a'))
    assert.equal(existsSync(at('a')), false)
  })
})
