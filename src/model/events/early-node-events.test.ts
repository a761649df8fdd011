import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EarlyNodeEvents } from './early-node-events.ts'

test('EarlyNodeEvents keeps events until they can be sent, and sends each once', () => {
  const early = new EarlyNodeEvents()
  const sent: string[] = []
  const event = (message: string) => ({ type: 'Warning', reason: 'StateFileSetAside', message }) as const
  early.record(event('one'))
  early.record(event('two'))
  early.passOn({ record: ({ message }) => void sent.push(message) })
  early.record(event('three'))
  assert.deepEqual(sent, ['one', 'two', 'three'])
})
