import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import { FakeContainerLog } from '../../../test/fakes/fake-container-log.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { systemClock } from '../../base/async/clock.ts'
import { openLogDirectory } from '../../system/directories/logs/log-directory.ts'
import type { LogDirectory } from '../../system/directories/logs/log-directory.ts'
import { readLog } from './read-log.ts'
import type { LogRequest, ReadLogDeps } from './read-log.ts'

const ID = 'c'.repeat(64)
const never = new AbortController().signal

function createLog(t: TestContext, maxFiles?: number) {
  const root = makeTemporaryFolder()
  const log = new FakeContainerLog(join(root, 'ns_web_uid', 'web', '0.log'), maxFiles)
  t.after(() => log[Symbol.dispose]())
  const state = { running: true }
  const read = (desired: Partial<LogRequest> = {}, deps: Partial<ReadLogDeps> = {}, signal = never) =>
    readLog(
      {
        openDirectory: openLogDirectory,
        mayPrint: async () => state.running,
        clock: systemClock,
        log: silentLogger,
        ...deps,
      },
      {
        place: { root, path: log.path, containerId: ID },
        stream: 'all',
        timestamps: false,
        follow: false,
        ...desired,
      },
      signal,
    )
  return { root, log, state, read }
}

/** A log that Docker writes and rotates, three files at most beside the current one. */
function createDockerLog(t: TestContext) {
  const { root, log, read, state } = createLog(t)
  const there = join(root, ID, `${ID}-json.log`)
  mkdirSync(dirname(there))
  rmSync(log.path)
  symlinkSync(there, log.path)
  const print = (text: string, stream = 'stdout') =>
    appendFileSync(there, `${JSON.stringify({ log: `${text}\n`, stream, time: '2026-01-01T00:00:00Z' })}\n`)
  const rotate = () => {
    for (const number of [4, 3, 2, 1]) {
      if (existsSync(`${there}.${number - 1}`)) renameSync(`${there}.${number - 1}`, `${there}.${number}`)
    }
    renameSync(there, `${there}.1`)
    writeFileSync(there, '')
  }
  return { read, print, rotate, state }
}

/** The next chunk with something in it, as text. */
async function nextText(reader: AsyncIterator<Buffer, void>): Promise<string> {
  for (;;) {
    const { done, value } = await reader.next()
    if (done === true) return ''
    if (value.length > 0) return value.toString()
  }
}

async function all(chunks: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const chunk of chunks) text += chunk.toString()
  return text
}

/** 0 … 9: the first three in a compressed file, the next three in a rotated one, the others in the current one. */
async function printTen(log: FakeContainerLog): Promise<void> {
  for (let at = 0; at < 10; at += 1) {
    if (at === 3 || at === 6) await log.rotate()
    log.print(String(at), at % 2 === 0 ? 'stdout' : 'stderr')
  }
  const gzipped = log.files().filter((name) => name.endsWith('.gz'))
  assert.deepEqual([log.files().length, gzipped.length], [3, 1])
}

const lines = (...numbers: readonly number[]) => numbers.map((number) => `${number}\n`).join('')
const at = (second: number) => ({ seconds: Date.UTC(2026, 0, 1) / 1000 + second, nanoseconds: 0 })

const rows: readonly (readonly [about: string, desired: Partial<LogRequest>, expected: string])[] = [
  ['all that is kept', {}, lines(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)],
  ['the last line', { tailLines: 1 }, lines(9)],
  ['as many lines as the current file has', { tailLines: 4 }, lines(6, 7, 8, 9)],
  ['a tail that reaches into a rotated file', { tailLines: 5 }, lines(5, 6, 7, 8, 9)],
  ['a tail that reaches into a compressed file', { tailLines: 9 }, lines(1, 2, 3, 4, 5, 6, 7, 8, 9)],
  ['a tail that is longer than the log', { tailLines: 99 }, lines(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)],
  ['no line', { tailLines: 0 }, ''],
  ['what is not older than a time in a rotated file', { since: at(4) }, lines(4, 5, 6, 7, 8, 9)],
  ['what is not older than a time within a second', { since: { ...at(8), nanoseconds: 500_000_001 } }, lines(9)],
  ['the younger of tail and since', { since: at(8), tailLines: 5 }, lines(8, 9)],
  ['one stream', { stream: 'stderr' }, lines(1, 3, 5, 7, 9)],
  ['a number of bytes', { limitBytes: 5 }, '0\n1\n2'],
  [
    'a number of bytes with times',
    { limitBytes: 33, timestamps: true, tailLines: 1 },
    '2026-01-01T00:00:09.500000000Z 9\n',
  ],
  ['half a line with its time', { limitBytes: 4, timestamps: true, tailLines: 1 }, '2026'],
]

describe('readLog()', () => {
  for (const [about, desired, expected] of rows) {
    test(`reads ${about}`, async (t) => {
      const { log, read } = createLog(t)
      await printTen(log)
      assert.equal(await all(read(desired)), expected)
    })
  }

  test('puts lines together that were printed in parts, with one time', async (t) => {
    const { log, read } = createLog(t)
    log.print('one ', 'stdout', 'P')
    log.print('line', 'stdout', 'F')
    log.print('another')
    assert.equal(
      await all(read({ timestamps: true })),
      '2026-01-01T00:00:00.500000000Z one line\n2026-01-01T00:00:02.500000000Z another\n',
    )
  })

  test('counts a tail right at the borders of chunks', async (t) => {
    const { log, read } = createLog(t)
    // 30 bytes of time, stream and tags and the newline before it: lines of 64 bytes, so that chunks end with lines.
    for (let at = 0; at < 3000; at += 1) log.print(String(at).padStart(31, '0'))
    for (const tailLines of [1, 1023, 1024, 1025, 2047, 2048, 2049, 3000]) {
      const output = await all(read({ tailLines }))
      assert.equal(output.length, tailLines * 32)
      assert.equal(Number(output.slice(0, 31)), 3000 - tailLines)
    }
  })

  test('reads the format of Docker behind the link of Docker', async (t) => {
    const { root, log, read } = createLog(t)
    const there = join(root, ID, `${ID}-json.log`)
    mkdirSync(dirname(there))
    writeFileSync(there, `${JSON.stringify({ log: 'hello\n', stream: 'stdout', time: '2026-01-01T00:00:00Z' })}\n`)
    rmSync(log.path)
    symlinkSync(there, log.path)
    assert.equal(await all(read({ timestamps: true })), '2026-01-01T00:00:00.000000000Z hello\n')
  })

  test('reads what Docker has rotated, the oldest first, also from the end and by its stream', async (t) => {
    const { read, print, rotate } = createDockerLog(t)
    for (let at = 0; at < 12; at += 1) {
      print(`line ${at}`, at % 2 === 0 ? 'stdout' : 'stderr')
      if (at % 3 === 2) rotate()
    }
    const lines = (from: number, step = 1) =>
      Array.from({ length: 12 }, (_, at) => at)
        .filter((at) => at >= from && at % step === 0)
        .map((at) => `line ${at}\n`)
        .join('')
    assert.equal(await all(read()), lines(0))
    assert.equal(await all(read({ tailLines: 5 })), lines(7))
    assert.equal(await all(read({ stream: 'stdout' })), lines(0, 2))
  })

  test('follows the log of Docker over rotations, woken by what Docker writes', async (t) => {
    const { read, print, rotate, state } = createDockerLog(t)
    print('before')
    // A poll would come an hour later.
    const clock = {
      ...systemClock,
      sleep: (ms: number, s: AbortSignal) => systemClock.sleep(ms >= 1000 ? 3_600_000 : ms, s),
    }
    const reader = read({ follow: true }, { clock })
    assert.equal(await nextText(reader), 'before\n')
    let text = ''
    for (let at = 0; at < 6; at += 1) {
      const next = nextText(reader)
      await setTimeout(20)
      if (at % 2 === 1) rotate()
      print(`line ${at}`)
      text += await next
    }
    assert.equal(text, Array.from({ length: 6 }, (_, at) => `line ${at}\n`).join(''))
    state.running = false
    print('last')
    assert.equal(await all(reader), 'last\n')
  })

  test('refuses other links, to files and to directories', async (t) => {
    const { root, log, read } = createLog(t)
    writeFileSync(join(root, 'secret'), '2026-01-01T00:00:00Z stdout F hush\n')
    rmSync(log.path)
    symlinkSync(join(root, 'secret'), log.path)
    await assert.rejects(all(read()), /Cannot read "0.log" as a log: it is a link/)
    rmSync(dirname(log.path), { recursive: true })
    mkdirSync(join(root, 'other'))
    writeFileSync(join(root, 'other', '0.log'), '2026-01-01T00:00:00Z stdout F hush\n')
    symlinkSync(join(root, 'other'), dirname(log.path))
    await assert.rejects(all(read()), { code: 'ENOTDIR' })
  })

  test('says that there is no log', async (t) => {
    const { log, read } = createLog(t)
    rmSync(log.path)
    await assert.rejects(all(read()), { message: 'Cannot read the log "0.log": there is no such file' })
  })

  test('reads what is kept while the runtime has not opened the new file', async (t) => {
    const { log, read } = createLog(t)
    log.print('old')
    renameSync(log.path, `${log.path}.20260101-000000`)
    assert.equal(await all(read()), 'old\n')
  })

  test('passes over a rotated file that is broken', async (t) => {
    const { log, read } = createLog(t)
    writeFileSync(`${log.path}.20260101-000000.gz`, 'no gzip at all')
    log.print('good')
    assert.equal(await all(read()), 'good\n')
  })

  test('does not read what comes while it reads, unless it follows', async (t) => {
    const { log, read } = createLog(t)
    for (let at = 0; at < 2000; at += 1) log.print('x'.repeat(100))
    let bytes = 0
    for await (const chunk of read()) {
      bytes += chunk.length
      if (chunk.length === 0) continue
      for (let at = 0; at < 1000; at += 1) log.print('y'.repeat(100))
    }
    assert.equal(bytes, 2000 * 101)
  })
})

describe('readLog() that follows', () => {
  test('gives what is printed later, and ends with the container', async (t) => {
    const { log, state, read } = createLog(t)
    log.print('first')
    const reader = read({ follow: true, tailLines: 1 })
    assert.equal(await nextText(reader), 'first\n')
    const second = nextText(reader)
    log.print('second')
    assert.equal(await second, 'second\n')
    const third = nextText(reader)
    log.print('third')
    state.running = false
    assert.equal(await third, 'third\n')
    assert.deepEqual(await reader.next(), { done: true, value: undefined })
  })

  test('asks neither for the name nor for the container while the log grows', async (t) => {
    const { root, log, read } = createLog(t)
    const directory = await openLogDirectory({ root, path: log.path, containerId: ID })
    const asked = { name: 0, container: 0 }
    const counting: LogDirectory = {
      names: () => directory.names(),
      open: (name) => directory.open(name),
      watch: (onChange) => directory.watch(onChange),
      identity: async (name) => {
        asked.name += 1
        return await directory.identity(name)
      },
      [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
    }
    const mayPrint = async () => (asked.container += 1) > 0
    const reader = read({ follow: true }, { openDirectory: async () => counting, mayPrint })
    t.after(() => reader.return())
    await reader.next()
    const next = nextText(reader)
    // It finds nothing new at first.
    while (asked.container === 0) await setTimeout(1)
    const before = { ...asked }
    log.print('0')
    assert.equal(await next, lines(0))
    for (let line = 1; line < 50; line += 1) {
      log.print(String(line))
      assert.equal(await nextText(reader), lines(line))
    }
    assert.ok(asked.name - before.name <= 2 && asked.container - before.container <= 2, JSON.stringify(asked))
  })

  test('ends when it is aborted, and lets go of its files', async (t) => {
    const { read } = createLog(t)
    const stop = new AbortController()
    const next = nextText(read({ follow: true }, {}, stop.signal))
    await setImmediate()
    stop.abort(new Error('enough'))
    await assert.rejects(next, { message: 'enough' })
  })

  test('gives what the runtime had in hand when the log was rotated', async (t) => {
    const { log, state, read } = createLog(t)
    log.print('one')
    const reader = read({ follow: true })
    assert.equal(await nextText(reader), 'one\n')
    await log.rotate(() => log.print('two'))
    log.print('three')
    state.running = false
    assert.equal(await all(reader), 'two\nthree\n')
  })

  test('goes on when a rotation failed and the log has its name back', async (t) => {
    const { log, state, read } = createLog(t)
    const reader = read({ follow: true })
    log.print('one')
    assert.equal(await nextText(reader), 'one\n')
    renameSync(log.path, `${log.path}.20200101-000000`)
    renameSync(`${log.path}.20200101-000000`, log.path)
    const next = nextText(reader)
    log.print('two')
    assert.equal(await next, 'two\n')
    await log.rotate()
    log.print('three')
    state.running = false
    assert.equal(await all(reader), 'three\n')
  })

  test('loses and doubles no line, however it is rotated and however slowly it is read', async (t) => {
    const folder = createLog(t)
    let run = 0
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constant('print' as const) },
      { weight: 2, arbitrary: fc.constant('rotate' as const) },
      { weight: 3, arbitrary: fc.constant('read' as const) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        run += 1
        const path = join(folder.root, `ns_web_${run}`, 'web', '0.log')
        using log = new FakeContainerLog(path)
        const state = { running: true }
        const clock = { ...systemClock, sleep: async () => await setImmediate() }
        const reader = folder.read(
          { follow: true, place: { root: folder.root, path, containerId: ID } },
          { clock, mayPrint: async () => state.running },
        )
        let printed = 0
        let output = ''
        let pending: Promise<void> | undefined
        const take = async () => {
          const { done, value } = await reader.next()
          if (done !== true) output += value.toString()
          pending = undefined
        }
        for (const step of steps) {
          if (step === 'print') log.print(String(printed++))
          else if (step === 'rotate') await log.rotate()
          else await Promise.race([(pending ??= take()), setImmediate()])
        }
        state.running = false
        await pending
        output += await all(reader)
        assert.equal(output, lines(...Array.from({ length: printed }, (_, at) => at)))
      }),
      { numRuns: 30 },
    )
  })
})
