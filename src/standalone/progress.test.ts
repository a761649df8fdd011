import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProgress } from './progress.ts'

function show(isTTY: boolean, steps: readonly [ms: number, text: string][]): readonly string[] {
  let now = 0
  const written: string[] = []
  const progress = createProgress({ monotonic: () => now }, { isTTY, write: (text) => void written.push(text) })
  for (const [ms, text] of steps) {
    now = ms
    progress(text)
  }
  return written
}

test('createProgress() writes one line again and again on a terminal, and takes it away', () => {
  const clear = '\r\u001B[K'
  const steps = [
    [0, 'a'],
    [50, 'b'],
    [100, 'c'],
    [110, ''],
    [120, ''],
  ] as const
  assert.deepEqual(show(true, steps as never), [`${clear}a`, `${clear}c`, clear])
})

test('createProgress() writes a line every five seconds elsewhere, and none for short work', () => {
  const steps = [
    [0, 'a'],
    [4999, 'b'],
    [5000, 'c'],
    [6000, 'd'],
    [10_000, 'e'],
    [10_001, ''],
  ] as const
  assert.deepEqual(show(false, steps as never), ['c\n', 'e\n'])
})
