import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotApplicable } from '../../test/vm/support/vm-suite.ts'
import { runSuites } from './run-suites.ts'
import type { VirtualMachine } from './virtual-machine.ts'

test('runSuites() counts what passed, failed and does not apply, and goes on after a failure', async () => {
  const said: string[] = []
  const { signal } = new AbortController()
  const guest = { run: async () => '', write: async () => {} }
  const checks = [
    { name: 'good', run: async () => {} },
    { name: 'bad', run: () => Promise.reject(new Error('first line\nsecond line')) },
    { name: 'other', run: () => Promise.reject(new NotApplicable('no such thing here')) },
    { name: 'last', run: async () => {} },
  ]
  const machine = { guest } as unknown as VirtualMachine
  const counts = await runSuites({
    machine,
    powerCuts: 1,
    suites: [{ name: 'suite', checks }],
    say: (text) => said.push(text),
    signal,
  })
  assert.deepEqual(counts, { passed: 2, failed: 1, notApplicable: 1 })
  const text = said.join('')
  assert.match(text, /FAILED {2}bad \(0 s\)\n {10}first line\n {10}second line\n/)
  assert.match(text, /n\/a {5}other: no such thing here/)
  assert.match(text, /FAILED {2}suite \(2 passed, 1 failed, 1 not applicable, 0 s\)/)
})

test('runSuites() ends after the check that an interruption broke off', async () => {
  const interrupt = new AbortController()
  const machine = { guest: { run: async () => '', write: async () => {} } } as unknown as VirtualMachine
  const ran: string[] = []
  const checks = ['first', 'second'].map((name) => ({
    name,
    run: async () => {
      ran.push(name)
      interrupt.abort(new Error('interrupted'))
    },
  }))
  await assert.rejects(
    runSuites({ machine, powerCuts: 1, suites: [{ name: 'suite', checks }], say: () => {}, signal: interrupt.signal }),
    /interrupted/,
  )
  assert.deepEqual(ran, ['first'])
})
