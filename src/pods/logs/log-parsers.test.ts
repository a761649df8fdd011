import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { CriLogParser } from './cri-log-parser.ts'
import { DockerLogParser } from './docker-log-parser.ts'
import type { LogParser } from './log-pieces.ts'

/** Entries as [time, stream, text], with the pieces of each put together. */
function readAll(parser: LogParser, chunks: readonly Buffer[]): string[][] {
  const entries: string[][] = []
  const pieces = [...chunks.flatMap((chunk) => parser.parse(Buffer.from(chunk))), ...parser.finish()]
  for (const { head, text } of pieces) {
    if (head !== undefined) entries.push([head.time, head.stream, ''])
    const entry = entries.at(-1) ?? []
    entry[2] += Buffer.from(text).toString('latin1')
  }
  return entries
}

const T = '2026-11-16T04:00:00.5Z'

const criRows: readonly (readonly [about: string, log: string, expected: readonly string[][]])[] = [
  ['a full line', `${T} stdout F hello world\n`, [[T, 'stdout', 'hello world\n']]],
  ['an empty line', `${T} stderr F \n`, [[T, 'stderr', '\n']]],
  [
    'a line in two parts',
    `${T} stdout P one \n${T} stdout F two\n`,
    [
      [T, 'stdout', 'one '],
      [T, 'stdout', 'two\n'],
    ],
  ],
  ['tags after the first', `${T} stdout P:x:y text\n`, [[T, 'stdout', 'text']]],
  ['no stream', `${T} F text\n${T} stdout F good\n`, [[T, 'stdout', 'good\n']]],
  ['no time', `root:x:0 stdout F text\n`, []],
  ['no text', `${T} stdout F\n${T} stdout F good\n`, [[T, 'stdout', 'good\n']]],
  ['a line that has no end yet', `${T} stdout F half`, [[T, 'stdout', 'half']]],
  ['a head that has no end yet', `${T} std`, []],
  ['something that is no log', `${'x'.repeat(1000)}\n${T} stdout F good\n`, [[T, 'stdout', 'good\n']]],
]

describe('CriLogParser', () => {
  for (const [about, log, expected] of criRows)
    test(`reads ${about}`, () => assert.deepEqual(readAll(new CriLogParser(), [Buffer.from(log)]), expected))

  const line = fc.oneof(
    fc
      .tuple(fc.constantFrom('stdout', 'stderr'), fc.constantFrom('P', 'F'), fc.string())
      .map(([stream, tag, text]) => `${T} ${stream} ${tag} ${text.replaceAll('\n', '')}\n`),
    fc.string().map((text) => `${text}\n`),
  )
  test('gives the same however its bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(40)), (lines, cuts) => {
        const whole = Buffer.from(lines.join(''))
        assert.deepEqual(readAll(new CriLogParser(), cut(whole, cuts)), readAll(new CriLogParser(), [whole]))
      }),
    )
  })

  test('holds nothing of a line of any length', () => {
    const parser = new CriLogParser()
    parser.parse(Buffer.from(`${T} stdout F `))
    let bytes = 0
    for (let at = 0; at < 1000; at += 1)
      for (const { text } of parser.parse(Buffer.alloc(1024, 'x'))) bytes += text.length
    assert.equal(bytes, 1000 * 1024)
  })
})

describe('DockerLogParser', () => {
  const good = JSON.stringify({ log: 'hi "you"\n', stream: 'stdout', time: T })
  const rows: readonly (readonly [about: string, log: string, expected: readonly string[][]])[] = [
    ['an entry', `${good}\n`, [[T, 'stdout', 'hi "you"\n']]],
    ['an entry without an end of line', good, [[T, 'stdout', 'hi "you"\n']]],
    [
      'broken and foreign lines',
      `{"log"\nnull\n{"log":1}\n{"log":"x","stream":"in","time":"t"}\n${good}\n`,
      [[T, 'stdout', 'hi "you"\n']],
    ],
    ['a line that is too long', `{"log":"${'x'.repeat(3_000_000)}\n${good}\n`, [[T, 'stdout', 'hi "you"\n']]],
  ]
  for (const [about, log, expected] of rows) {
    test(`reads ${about}`, () => {
      const bytes = Buffer.from(log)
      const cuts = Array.from({ length: 60 }, () => 64 * 1024)
      assert.deepEqual(readAll(new DockerLogParser(), [bytes]), expected)
      assert.deepEqual(readAll(new DockerLogParser(), cut(bytes, cuts)), expected)
    })
  }
})

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  let at = 0
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return [...chunks, bytes.subarray(at)]
}
