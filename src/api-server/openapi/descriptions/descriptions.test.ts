import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiTypes } from '../../../model/schema/api-types.ts'
import type { ValueType } from '../../../model/schema/object-type.ts'
import { descriptionOf } from './descriptions.ts'

/** The types that a type reaches, itself included. */
function reach(type: ValueType, reached = new Set<string>()): ReadonlySet<string> {
  if (type.kind === 'list' || type.kind === 'map') return reach(type.of, reached)
  if (type.kind !== 'object' || reached.has(type.name)) return reached
  reached.add(type.name)
  for (const field of apiTypes.fieldsOf(type.name).values()) reach(field.type, reached)
  return reached
}

test('every type and field of a pod has a description', () => {
  const types = reach({ kind: 'object', name: 'Pod' })
  assert.ok(types.size > 100)
  const missing = [...types].flatMap((typeName) =>
    ['', ...apiTypes.fieldsOf(typeName).keys()]
      .filter((field) => descriptionOf(typeName, field) === undefined)
      .map((field) => `${typeName}.${field}`),
  )
  assert.deepEqual(missing, [])
})

test('a star stands for fields only, and a type says it better', () => {
  assert.equal(descriptionOf('NoType', ''), undefined)
  assert.equal(descriptionOf('NoType', 'kind'), 'What this object is.')
  assert.equal(descriptionOf('AzureDiskVolumeSource', 'kind'), 'Shared, Dedicated or Managed.')
  assert.equal(descriptionOf('EphemeralContainer', 'image'), descriptionOf('Container', 'image'))
})
