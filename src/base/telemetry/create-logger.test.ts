import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { createLogger } from './create-logger.ts'

function makeLog(format: 'text' | 'json', verbosity = 0) {
  const lines: string[] = []
  const clock = new FakeClock(new Date(2026, 10, 15, 22, 14, 41, 123).getTime())
  return { lines, log: createLogger({ format, verbosity, clock, pid: 812, write: (line) => lines.push(line) }) }
}

test('createLogger() writes the text form of the Go kubelet', () => {
  const { log, lines } = makeLog('text')
  log.child({ pod: 'default/web' }).warn('cannot pull', { image: 'a"b', tries: 2, absent: undefined, size: 5n })
  assert.deepEqual(lines, [
    'W1115 22:14:41.123000     812 kubelet] "cannot pull" pod="default/web" image="a\\"b" tries=2 size="5"\n',
  ])
})

test('createLogger() writes JSON lines', () => {
  const { log, lines } = makeLog('json')
  log.error('gone', { error: new Error('outer', { cause: new Error('inner') }) })
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      {
        ts: new Date(2026, 10, 15, 22, 14, 41, 123).getTime() / 1000,
        level: 'error',
        msg: 'gone',
        error: 'outer: inner',
      },
    ],
  )
})

test('createLogger() keeps debug lines for verbosity 4', () => {
  const quiet = makeLog('text', 3)
  quiet.log.debug('x')
  const loud = makeLog('text', 4)
  loud.log.debug('x')
  assert.deepEqual([quiet.lines.length, loud.lines.length], [0, 1])
})

test('createLogger() never writes what is named like a secret, at any depth', () => {
  for (const format of ['text', 'json'] as const) {
    const { log, lines } = makeLog(format)
    log.error('x', { token: 'hush', auth: { Authorization: 'hush', identityToken: 'hush' }, secretName: 'shown' })
    assert.equal(lines.join('').includes('hush'), false)
    assert.equal(lines.join('').includes('shown'), true)
  }
})

test('createLogger() writes decisions of the files that are named', () => {
  const lines: string[] = []
  const options = { format: 'text', verbosity: 0, clock: new FakeClock(), pid: 7 } as const
  const write = (line: string) => void lines.push(line)
  createLogger({ ...options, write, modules: [{ filePattern: 'create-logger.*', verbosity: 4 }] })
    .child({ a: 1 })
    .debug('shown')
  createLogger({ ...options, write, modules: [{ filePattern: 'create-logger.*', verbosity: 3 }] }).debug('too little')
  createLogger({ ...options, write, modules: [{ filePattern: 'other', verbosity: 9 }] }).debug('not meant')
  const findSource = (path: string) => (path.endsWith('.test.ts') ? 'src/pods/worker.ts' : undefined)
  createLogger({ ...options, write, findSource, modules: [{ filePattern: 'pods/w*', verbosity: 4 }] }).debug('built')
  assert.deepEqual(
    lines.map((line) => line.slice(line.indexOf(']'))),
    ['] "shown" a=1\n', '] "built"\n'],
  )
})
