import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dropZeros } from './drop-zeros.ts'

describe('dropZeros()', () => {
  const rows: readonly (readonly [string, string, Record<string, unknown>, Record<string, unknown>])[] = [
    ['flags and texts', 'PodSpec', { hostNetwork: false, hostname: '', containers: [] }, { containers: [] }],
    [
      'what distinguishes zero from absent',
      'SecurityContext',
      { runAsUser: 0, privileged: false },
      { runAsUser: 0, privileged: false },
    ],
    ['empty lists and maps', 'ObjectMeta', { labels: {}, finalizers: [], name: 'a' }, { name: 'a' }],
    ['objects stay', 'Container', { name: 'a', resources: {}, tty: false }, { name: 'a', resources: {} }],
    [
      'inside lists and inlined types',
      'Pod',
      { spec: { containers: [{ name: 'a', livenessProbe: { exec: { command: [] }, timeoutSeconds: 0 } }] } },
      { spec: { containers: [{ name: 'a', livenessProbe: { exec: {} } }] } },
    ],
  ]
  for (const [name, type, value, expected] of rows) {
    test(name, () => assert.deepEqual(dropZeros(value, type), expected))
  }
})
