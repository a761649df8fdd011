import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findField } from './find-field.ts'

describe('findField()', () => {
  const rows: readonly (readonly [reason: string, expected: readonly (string | number)[] | undefined])[] = [
    ['strict decoding error: unknown field "spec.containers[0].comand"', ['spec', 'containers', 0, 'comand']],
    ['Pod "x" is invalid: metadata.name: Invalid value: "X": must be …', ['metadata', 'name']],
    ['Service "s" is invalid: [spec.ports[1].port: Invalid value: 0, spec.type: …]', ['spec', 'ports', 1, 'port']],
    ['the API has no Foo in v1', undefined],
  ]
  for (const [reason, expected] of rows) test(reason, () => assert.deepEqual(findField(reason), expected))
})
