import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { logFiles } from '../../system/directories/logs/log-files.ts'
import type { LogFiles } from '../../system/directories/logs/log-files.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { LoggedContainer } from './rotate-log.ts'
import { runLogRotation } from './run-log-rotation.ts'

const limits = { maxSizeBytes: 10, maxFiles: 5, maxWorkers: 1, intervalMs: 10_000 }

describe('runLogRotation()', () => {
  let folder: string
  let clock: FakeClock
  let reopened: string[]
  let warnings: unknown[]
  /** What the runtime does when it is asked to reopen a log. */
  let onReopen: (path: string) => Promise<void> | void
  let controller: AbortController

  const at = (name: string) => join(folder, name)
  const read = (name: string) => readFileSync(at(name), 'utf8')
  const container = (log: string): LoggedContainer => ({
    containerId: at(log),
    logPath: at(log),
    pod: 'default/web',
    name: 'web',
  })

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'log-rotation-'))
    clock = new FakeClock(new Date(2026, 0, 2, 3, 4, 5).getTime())
    reopened = []
    warnings = []
    onReopen = (path) => appendFileSync(path, '')
    controller = new AbortController()
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  function start(
    logs: readonly string[],
    options: { limits?: Partial<typeof limits>; files?: Partial<LogFiles> } = {},
  ) {
    const running = runLogRotation(
      {
        containers: () => logs.map((log) => container(log)),
        calls: {
          async reopenContainerLog({ containerId = '' }) {
            reopened.push(containerId.slice(folder.length + 1))
            await onReopen(containerId)
            return {}
          },
        },
        files: { ...logFiles, ...options.files },
        limits: { ...limits, ...options.limits },
        clock,
        log: { ...silentLogger, warn: (...line: unknown[]) => void warnings.push(line) },
      },
      controller.signal,
    )
    const pass = async () => {
      await clock.advance(10_000)
      while (clock.sleeping === 0) await setImmediate()
    }
    const end = async () => {
      const reason = new Error('enough')
      controller.abort(reason)
      await assert.rejects(running, (error) => error === reason)
      assert.equal(clock.sleeping, 0)
    }
    return { pass, end, running }
  }

  test('rotates a log that has reached its size, and keeps five files of it', async () => {
    const { pass, end } = start(['0.log'])
    for (let round = 0; round < 6; round += 1) {
      writeFileSync(at('0.log'), `round ${round} of it`)
      await pass()
    }
    assert.deepEqual(readdirSync(folder).sort(), [
      '0.log',
      '0.log.20260102-030435.gz',
      '0.log.20260102-030445.gz',
      '0.log.20260102-030455.gz',
      '0.log.20260102-030505',
    ])
    assert.equal(read('0.log'), '')
    assert.equal(read('0.log.20260102-030505'), 'round 5 of it')
    assert.equal(gunzipSync(readFileSync(at('0.log.20260102-030435.gz'))).toString(), 'round 2 of it')
    assert.deepEqual([reopened.length, warnings], [6, []])
    await end()
  })

  test('leaves a smaller log alone', async () => {
    writeFileSync(at('0.log'), '123456789')
    const { pass, end } = start(['0.log'])
    await pass()
    assert.deepEqual([readdirSync(folder), reopened], [['0.log'], []])
    appendFileSync(at('0.log'), '0')
    await pass()
    assert.deepEqual(reopened, ['0.log'])
    await end()
  })

  test('has a missing log made again', async () => {
    const { pass, end } = start(['0.log'])
    await pass()
    assert.deepEqual([readdirSync(folder), reopened], [['0.log'], ['0.log']])
    await end()
  })

  test('says nothing of a container that was removed meanwhile', async () => {
    onReopen = () => {
      throw new CriCallError('reopenContainerLog', 'NotFound', 'no such container')
    }
    writeFileSync(at('1.log'), '1234567890')
    const { pass, end } = start(['0.log', '1.log'])
    await pass()
    assert.deepEqual([reopened, warnings], [['0.log', '1.log'], []])
    await end()
  })

  test('takes the log back when the runtime does not reopen it', async () => {
    writeFileSync(at('0.log'), '1234567890')
    onReopen = () => {
      throw new Error('no')
    }
    const { pass, end } = start(['0.log'])
    await pass()
    assert.deepEqual([readdirSync(folder), read('0.log'), warnings.length], [['0.log'], '1234567890', 1])
    onReopen = (path) => {
      writeFileSync(path, 'new')
      throw new Error('done, but the answer was lost')
    }
    await pass()
    assert.deepEqual([read('0.log'), read('0.log.20260102-030425')], ['new', '1234567890'])
    await end()
  })

  test('touches nothing through a link, and goes on with the next container', async () => {
    writeFileSync(at('secret'), '1234567890')
    symlinkSync(at('secret'), at('0.log'))
    writeFileSync(at('1.log'), '1234567890')
    const { pass, end } = start(['0.log', '1.log'])
    await pass()
    assert.deepEqual(readdirSync(folder).sort(), ['0.log', '1.log', '1.log.20260102-030415', 'secret'])
    assert.deepEqual([reopened, warnings.length], [['1.log'], 1])
    await end()
  })

  test('rotates although an older log cannot be compressed', async () => {
    writeFileSync(at('0.log'), '1234567890')
    writeFileSync(at('0.log.20260101-000000'), 'old')
    const compress = async () => {
      throw new Error('disk is full')
    }
    const { pass, end } = start(['0.log'], { files: { compress } })
    await pass()
    assert.deepEqual(readdirSync(folder).sort(), ['0.log', '0.log.20260101-000000', '0.log.20260102-030415'])
    assert.equal(warnings.length, 1)
    await end()
  })

  test('works on as many logs at a time as it may', async () => {
    const gate = Promise.withResolvers<void>()
    onReopen = () => gate.promise
    const { end } = start(['0.log', '1.log', '2.log'], { limits: { maxWorkers: 2 } })
    await clock.advance(10_000)
    while (reopened.length < 2) await setImmediate()
    for (let turn = 0; turn < 20; turn += 1) await setImmediate()
    assert.deepEqual([...reopened].sort(), ['0.log', '1.log'])
    gate.resolve()
    while (clock.sleeping === 0) await setImmediate()
    assert.deepEqual([...reopened].sort(), ['0.log', '1.log', '2.log'])
    await end()
  })

  test('does nothing when the size is negative', async () => {
    const { running } = start(['0.log'], { limits: { maxSizeBytes: -1 } })
    await running
    assert.deepEqual([clock.sleeping, reopened], [0, []])
  })
})
