import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeSilence, formatExplanation } from './why.ts'

test('formatExplanation() gives the sentence and the steps', () => {
  const startedAt = Date.UTC(2026, 0, 1, 12, 30, 5, 7)
  const steps = [
    { name: 'create sandbox', startedAt, ms: 107.4 },
    { name: 'start container "web"', startedAt, ms: 5, error: 'no such file' },
    { name: 'sync', startedAt, ms: 5, error: 'no such file' },
    { name: 'start container "web"', startedAt, ms: 5, error: 'back-off: ErrStart: no such file' },
    { name: 'start container "web"', startedAt, ms: 5, error: 'back-off: ErrStart: no such file' },
    { name: 'wait for a start slot', startedAt },
  ]
  assert.equal(
    formatExplanation({ namespace: 'default', name: 'web', why: 'Runs and is ready', steps }),
    [
      'default/web: Runs and is ready',
      '  12:30:05.007    0.107 s  create sandbox',
      '  12:30:05.007    0.005 s  start container "web": no such file',
      '  12:30:05.007    0.005 s  sync: failed as above',
      '  12:30:05.007    0.005 s  start container "web": back-off: ErrStart: as above',
      '  12:30:05.007    0.005 s  start container "web": failed as above',
      '  12:30:05.007    goes on  wait for a start slot',
    ].join('\n'),
  )
})

test('describeSilence() names the runtime that an agent waits for', () => {
  const away = { text: 'unix:///d.sock is away: nothing listens there', answers: false }
  const there = { text: 'Docker at unix:///d.sock', answers: true }
  assert.equal(
    describeSilence('web', { agentRuns: true, runtime: away }),
    'Cannot ask the agent about "web": it waits for the container runtime: unix:///d.sock is away: nothing listens there.',
  )
  const asks = 'Cannot ask the agent about "web": it does not answer, is "deckhand up" running?'
  assert.equal(describeSilence('web', { agentRuns: false, runtime: away }), asks)
  assert.equal(describeSilence('web', { agentRuns: true, runtime: there }), asks)
})
