import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeProbeCommand } from './compute-probe-command.ts'

test('computeProbeCommand() knows only the values that stand in the spec, as they stand there', () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'B', value: '$(A)' },
    { name: 'EMPTY' },
    { name: 'FIELD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ]
  const command = ['$(A)', '$(B)', '[$(EMPTY)]', '$(FIELD)', '$(NONE)', '$$(A)', '$']
  assert.deepEqual(computeProbeCommand(command, { env }), ['1', '$(A)', '[]', '$(FIELD)', '$(NONE)', '$(A)', '$'])
  assert.deepEqual(computeProbeCommand(['$(A)'], {}), ['$(A)'])
})
