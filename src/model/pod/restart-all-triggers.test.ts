import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance, createObservedPod } from '../../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { ObservedContainer } from './observed-pod.ts'
import { restartAllTriggers } from './restart-all-triggers.ts'

const rules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }]
const pod = createPod({
  spec: {
    initContainers: [createContainer({ name: 'i', restartPolicy: 'Never', restartPolicyRules: rules })],
    containers: [
      createContainer({ name: 'a', restartPolicy: 'Never', restartPolicyRules: rules }),
      createContainer({ name: 'b' }),
    ],
  },
})
const ended = (name: string, exitCode: number, parts: Partial<ObservedContainer> = {}) =>
  createInstance({ name, state: 'exited', exitCode, ...parts })

const rows: Readonly<Record<string, { readonly has: readonly ObservedContainer[]; readonly expected: string[] }>> = {
  'nothing ended': { has: [createInstance({ name: 'a' })], expected: [] },
  'one ended so': { has: [ended('a', 42)], expected: ['a'] },
  'one ended otherwise': { has: [ended('a', 1)], expected: [] },
  'one without a rule ended so': { has: [ended('b', 42)], expected: [] },
  'init and regular ones': { has: [ended('a', 42), ended('i', 42)], expected: ['i', 'a'] },
  'it runs again': { has: [createInstance({ name: 'a', restartCount: 1 }), ended('a', 42)], expected: [] },
  'it ended in an older sandbox': { has: [ended('a', 42, { sandboxId: 'old' })], expected: [] },
}

describe('restartAllTriggers()', () => {
  for (const [name, { has, expected }] of Object.entries(rows)) {
    test(name, () => assert.deepEqual(restartAllTriggers(pod, createObservedPod({ containers: has })), expected))
  }
})
