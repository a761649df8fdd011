import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandNames, helpText } from './help.ts'

test('helpText() is about the command that was asked for, or about all', () => {
  assert.match(helpText('logs'), /^Usage: deckhand logs .*\n\nShow the log of a part/)
  assert.doesNotMatch(helpText('logs'), /--apply|--purge/)
  assert.match(helpText('up'), /--apply DIR[^]*--detach[^]*--wait\[=TIME\]/)
  for (const text of [helpText(), helpText('frob')]) assert.match(text, /^Deckhand: [^]*\n {2}install +start the node/)
})

test('helpText() has a space after each name', () => {
  for (const name of commandNames) assert.match(helpText(), new RegExp(`^  ${name} +\\S`, 'm'))
})
