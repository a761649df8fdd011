import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listCrashed, parseLogLines } from './last-log-lines.ts'

const status = { name: 'a', image: '', imageID: '', ready: false, restartCount: 3 }
const failed = { terminated: { exitCode: 1 } }

test('parseLogLines() gives the text of the last lines', () => {
  const lines = Array.from({ length: 9 }, (_, index) => `2026-01-01T00:00:00Z stdout F line ${index}`)
  assert.deepEqual(parseLogLines(`cut off\n${lines.join('\n')}\n`), ['line 4', 'line 5', 'line 6', 'line 7', 'line 8'])
  assert.deepEqual(parseLogLines(''), [])
})

test('parseLogLines() reads what Docker writes, and puts lines together that were printed in parts', () => {
  const entry = (log: string) => JSON.stringify({ log, stream: 'stderr', time: '2026-01-01T00:00:00Z' })
  assert.deepEqual(parseLogLines(`${entry('one\n')}\n${entry('tw')}\n${entry('o\n')}\n`), ['one', 'two'])
  assert.deepEqual(parseLogLines('2026-01-01T00:00:00Z stdout P a\n2026-01-01T00:00:00Z stdout F b\n'), ['ab'])
})

test('listCrashed() finds the run of a container that failed', () => {
  const waiting = { waiting: { reason: 'CrashLoopBackOff' } }
  const running = { running: {} }
  const statuses = [
    { ...status, name: 'waits', state: waiting, lastState: failed },
    { ...status, name: 'runs', state: running, lastState: failed },
    { ...status, name: 'ended', state: failed },
    { ...status, name: 'done', state: { terminated: { exitCode: 0 } } },
    { ...status, name: 'well', state: running },
  ]
  assert.deepEqual(listCrashed({ status: { containerStatuses: statuses } }), [
    { name: 'waits', attempt: 3 },
    { name: 'runs', attempt: 2 },
    { name: 'ended', attempt: 3 },
  ])
})
