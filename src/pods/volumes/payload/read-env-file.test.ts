import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { DeadlineError } from '../../../base/async/abort-errors.ts'
import { systemClock } from '../../../base/async/clock.ts'
import type { Lookup } from '../../containers/environment/environment-sources.ts'
import { createGuardedFiles } from '../../../system/guarded/create-guarded-files.ts'
import { readEnvFile } from './read-env-file.ts'
import type { EnvFileDeps } from './read-env-file.ts'

const pod = createPod()
const never = new AbortController().signal

type Files = EnvFileDeps['files']

const failing = (error: Error): Files => ({ readFile: () => Promise.reject(error) })
const coded = (code: string | undefined) =>
  failing(Object.assign(new Error(`${code}: no, open '/host/path'`), { code }))
const holding = (content: string | readonly number[]): Files => ({
  readFile: async () => Buffer.from(content as string),
})

const rows: readonly (readonly [string, Files, Lookup<string>])[] = [
  ['a variable', holding("K='v'"), { kind: 'found', value: 'v' }],
  ['a variable that is not in the file', holding("A='v'"), { kind: 'missing' }],
  ['a file that is not there', coded('ENOENT'), { kind: 'missing' }],
  ['a file below something that is no directory', coded('ENOTDIR'), { kind: 'missing' }],
  ['a broken file', holding('K'), { kind: 'unavailable', why: 'line 1: expected a "=" after the name' }],
  ['bytes', holding([0xff]), { kind: 'unavailable', why: 'it is not UTF-8 text, which a variable has to be' }],
  ['a huge file', coded('EFBIG'), { kind: 'unavailable', why: 'it is larger than 1048576 bytes' }],
  ['a directory', coded('EINVAL'), { kind: 'unavailable', why: 'it is no regular file' }],
  ['a link to the node', coded('EXDEV'), { kind: 'unavailable', why: 'it is outside of its volume' }],
  ['a link to itself', coded('ELOOP'), { kind: 'unavailable', why: 'too many links lead to it, or one that changes' }],
  ['a broken disk', coded('EIO'), { kind: 'unavailable', why: 'it cannot be read (EIO)' }],
  ['a child process that died', coded(undefined), { kind: 'unavailable', why: 'it cannot be read' }],
  [
    'a dead file system',
    failing(new DeadlineError('Cannot finish "readInside" of "/host/path"')),
    { kind: 'unavailable', why: 'reading it takes too long' },
  ],
]

describe('readEnvFile()', () => {
  for (const [name, files, expected] of rows) {
    test(`answers for ${name}`, async () => {
      const deps = { files, volumePath: () => '/host/path', log: silentLogger }
      const file = { volumeName: 'v', path: 'p', key: 'K' }
      assert.deepEqual(await readEnvFile(deps, { pod, file }, never), expected)
    })
  }

  test('asks for the file in the volume of the pod', async () => {
    const asked: unknown[] = []
    const files: Files = {
      async readFile(request) {
        asked.push(request)
        return Buffer.from("K='v'")
      },
    }
    const volumePath = (...volume: readonly string[]) => `/volumes/${volume.join('/')}`
    const file = { volumeName: 'v', path: 'd/p', key: 'K' }
    await readEnvFile({ files, volumePath, log: silentLogger }, { pod, file }, never)
    assert.deepEqual(asked, [{ root: `/volumes/${pod.metadata.uid}/v`, path: 'd/p', maxBytes: 1048576 }])
  })

  test('says so when the volume is not there', async () => {
    const deps = { files: holding("K='v'"), volumePath: () => undefined, log: silentLogger }
    const file = { volumeName: 'v', path: 'p', key: 'K' }
    const why = 'no container of the pod mounts this volume'
    assert.deepEqual(await readEnvFile(deps, { pod, file }, never), { kind: 'unavailable', why })
  })

  test('blames no file when it is aborted', async () => {
    const deps = { files: coded('EIO'), volumePath: () => '/host/path', log: silentLogger }
    const file = { volumeName: 'v', path: 'p', key: 'K' }
    const signal = AbortSignal.abort(new Error('leave'))
    await assert.rejects(readEnvFile(deps, { pod, file }, signal), { message: 'leave' })
  })

  test('reads real files, links inside the volume followed, those that lead out refused', async (t: TestContext) => {
    const root = makeTemporaryFolder()
    await mkdir(join(root, 'd'))
    await writeFile(join(root, 'd/real'), "K='v'")
    await symlink('d/real', join(root, 'link'))
    await symlink('/etc/passwd', join(root, 'out'))
    using files = createGuardedFiles({ clock: systemClock, log: silentLogger, findLauncher: async () => [] })
    const read = (path: string) =>
      readEnvFile(
        { files, volumePath: () => root, log: silentLogger },
        { pod, file: { volumeName: 'v', path, key: 'K' } },
        t.signal,
      )
    assert.deepEqual(await Promise.all(['link', 'none', 'd', 'out', 'd/real/x'].map(read)), [
      { kind: 'found', value: 'v' },
      { kind: 'missing' },
      { kind: 'unavailable', why: 'it is no regular file' },
      { kind: 'unavailable', why: 'it is outside of its volume' },
      { kind: 'missing' },
    ])
  })
})
