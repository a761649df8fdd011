import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import { endProcess } from './end-process.ts'

describe('endProcess()', () => {
  test('ends with the exit code and all words said while a thread waits for ever', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-end-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    // Nothing ever writes to the pipe: opening it has no end, and neither has an exit that waits for the thread.
    const script = `
      import { open } from 'node:fs'
      import { setImmediate } from 'node:timers'
      import { endProcess } from ${JSON.stringify(import.meta.resolve('./end-process.ts'))}
      open(${JSON.stringify(pipe)}, 'r', () => {})
      setImmediate(() => {
        process.stderr.write('leaving')
        endProcess(3)
      })`
    const { status, stderr, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
      timeout: 30_000,
      killSignal: 'SIGKILL',
    })
    assert.deepEqual({ status, stderr, signal }, { status: 3, stderr: 'leaving', signal: null })
  })

  const rows: readonly [string, readonly string[], readonly string[]][] = [
    ['exits when no thread is busy', ['Timeout', 'TTYWrap'], ['exit 3']],
    ['waits for no name', ['Timeout', 'GetAddrInfoReqWrap'], ['/bin/sh sh -c exit 3', 'exit 3']],
    ['waits for no file', ['FSReqPromise'], ['/bin/sh sh -c exit 3', 'exit 3']],
  ]
  for (const [name, resources, expected] of rows) {
    test(`${name}, and exits when there is no shell`, () => {
      const deeds: string[] = []
      const own = {
        getActiveResourcesInfo: () => [...resources],
        execve(file: string, args: readonly string[] = []): never {
          deeds.push([file, ...args].join(' '))
          throw new Error('ENOENT')
        },
        exit(code?: number | string | null): never {
          deeds.push(`exit ${code}`)
          throw new Error('gone')
        },
      }
      assert.throws(() => endProcess(3, own), /gone/)
      assert.deepEqual(deeds, expected)
    })
  }
})
