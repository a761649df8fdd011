import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainerStatus } from '../../../test/builders/create-status-input.ts'
import { computeTerminationMessage, shareTerminationMessages, usesLog } from './compute-termination-message.ts'

describe('usesLog()', () => {
  const fallback = 'FallbackToLogsOnError'
  const rows: readonly (readonly [string | undefined, number, string, string, boolean])[] = [
    [fallback, 1, 'Error', '', true],
    [fallback, 137, 'OOMKilled', '', true],
    [fallback, 1, 'Error', 'last words', false],
    [fallback, 0, 'Completed', '', false],
    [fallback, 127, 'ContainerCannotRun', '', false],
    ['File', 1, 'Error', '', false],
    [undefined, 1, 'Error', '', false],
  ]
  for (const [policy, exitCode, reason, terminationMessages, expected] of rows) {
    test(`${policy}, exit ${exitCode} ${reason}, "${terminationMessages}": ${expected}`, () =>
      assert.equal(usesLog(policy, { exitCode, reason }, terminationMessages), expected))
  }
})

test('computeTerminationMessage() joins what there is', () => {
  assert.deepEqual(
    [
      ['', ''],
      ['no such file', ''],
      ['', 'bye'],
      ['killed', 'bye'],
    ].map(([runtime = '', words = '']) => computeTerminationMessage(runtime, words)),
    ['', 'no such file', 'bye', 'killed: bye'],
  )
})

describe('shareTerminationMessages()', () => {
  const end = (message: string) => ({ terminated: { exitCode: 1, message } })
  test('one container may say all that a pod may say', () => {
    const status = createContainerStatus({ state: end('x'.repeat(12_288)) })
    assert.deepEqual(shareTerminationMessages([status], 1), [status])
  })

  test('several share it; the beginning stays, and no character is cut in two', () => {
    const long = `a${'ä'.repeat(4000)}`
    const [status] = shareTerminationMessages([createContainerStatus({ state: end(long), lastState: end('short') })], 3)
    assert.deepEqual([status?.state, status?.lastState], [end(`a${'ä'.repeat(2047)}`), end('short')])
  })

  test('what says nothing stays as it is', () => {
    const statuses = [
      createContainerStatus({ state: { running: {} } }),
      createContainerStatus({ state: { waiting: {} } }),
    ]
    assert.deepEqual(shareTerminationMessages(statuses, 2), statuses)
  })
})
