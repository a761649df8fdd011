import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { setUmask } from '../../../../test/fixtures/set-umask.ts'
import { checkHostPath } from './check-host-path.ts'

const kinds = {
  Directory: 'directory',
  DirectoryOrCreate: 'directory',
  File: 'file',
  FileOrCreate: 'file',
  Socket: 'socket file',
  CharDevice: 'character device',
  BlockDevice: 'block device',
} as const

describe('checkHostPath()', () => {
  test('takes only what is of the type, links followed', async (t) => {
    const folder = makeTemporaryFolder()
    const at = (name: string) => join(folder, name)
    mkdirSync(at('directory'))
    writeFileSync(at('file'), '')
    symlinkSync('file', at('link'))
    const server = createServer().listen(at('socket'))
    t.after(() => server.close())
    await once(server, 'listening')
    const good: Record<string, readonly (keyof typeof kinds)[]> = {
      [at('directory')]: ['Directory', 'DirectoryOrCreate'],
      [at('file')]: ['File', 'FileOrCreate'],
      [at('link')]: ['File', 'FileOrCreate'],
      [at('socket')]: ['Socket'],
      '/dev/null': ['CharDevice'],
    }
    for (const [path, fitting] of Object.entries(good)) {
      for (const [type, kind] of Object.entries(kinds) as [keyof typeof kinds, string][]) {
        if (fitting.includes(type)) checkHostPath({ path, type })
        else {
          const message = `hostPath type check failed: ${path} is not a ${kind}`
          assert.throws(() => checkHostPath({ path, type }), { message, code: 'EINVAL' })
        }
      }
    }
  })

  test('makes only what the type says', (t) => {
    setUmask(t, 0o022)
    const folder = makeTemporaryFolder()
    for (const type of ['Directory', 'File', 'Socket', 'CharDevice', 'BlockDevice'] as const) {
      const path = join(folder, 'absent')
      const message = `hostPath type check failed: ${path} is not a ${kinds[type]}`
      assert.throws(() => checkHostPath({ path, type }), { message, code: 'ENOENT' })
    }
    const directory = join(folder, 'a/b')
    checkHostPath({ path: directory, type: 'DirectoryOrCreate' })
    checkHostPath({ path: join(folder, 'f'), type: 'FileOrCreate' })
    assert.throws(() => checkHostPath({ path: join(folder, 'absent/f'), type: 'FileOrCreate' }), { code: 'ENOENT' })
    assert.deepEqual(readdirSync(folder), ['a', 'f'])
    assert.deepEqual(
      [directory, join(folder, 'a'), join(folder, 'f')].map((path) => statSync(path).mode & 0o777),
      [0o755, 0o755, 0o644],
    )
    assert.equal(existsSync(join(folder, 'absent')), false)
  })
})
