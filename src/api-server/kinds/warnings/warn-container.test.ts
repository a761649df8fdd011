import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EnvVar } from '../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { warnOfContainer } from './warn-container.ts'

describe('advice about a variable that is set again', () => {
  const from = { fieldRef: { fieldPath: 'metadata.name' } }
  const rows: readonly (readonly [name: string, again: Omit<EnvVar, 'name'>, isHidden: boolean])[] = [
    ['another value', { value: '2' }, true],
    ['itself alone', { value: '$(A)' }, true],
    ['made of the old one', { value: '$(A)2' }, false],
    ['from elsewhere', { valueFrom: from }, true],
  ]
  for (const [name, again, isHidden] of rows) {
    test(name, () => {
      const env = [
        { name: 'A', value: '1' },
        { name: 'A', ...again },
      ]
      const pod = { annotations: {}, path: FieldPath.root, spec: { containers: [] } }
      const warnings = warnOfContainer({ name: 'main', env }, FieldPath.root.child('c'), pod)
      const text = 'c.env[1]: hides previous definition of "A", which may be dropped when using apply'
      assert.deepEqual(warnings, isHidden ? [text] : [])
    })
  }
})
