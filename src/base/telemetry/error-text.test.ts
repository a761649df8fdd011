import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorMessage, errorText } from './error-text.ts'

test('errorText() does not repeat what an outer error already said', () => {
  const inner = new Error('no such file')
  assert.equal(errorText(new Error('Cannot read "x": no such file', { cause: inner })), 'Cannot read "x": no such file')
})

test('errorText() says what failed first, not that leaving the block failed too', () => {
  const failure = new SuppressedError(new Error('later'), new Error('port is taken'), 'An error was suppressed')
  assert.equal(errorText(new Error('Task "x" failed', { cause: failure })), 'Task "x" failed: port is taken')
})

test('errorMessage() is what the error itself says, or what was thrown in its place', () => {
  const error = new Error('outer', { cause: new Error('inner') })
  assert.deepEqual(
    [errorMessage(error), errorMessage('a text'), errorMessage(undefined)],
    ['outer', 'a text', 'undefined'],
  )
})
