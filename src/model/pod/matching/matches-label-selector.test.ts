import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LabelSelector } from '../../generated/core-v1.ts'
import { matchesLabelSelector } from './matches-label-selector.ts'

const labels = { app: 'web', tier: 'front' }
const expression = (key: string, operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
})

const rows: readonly (readonly [string, LabelSelector | undefined, boolean])[] = [
  ['no selector', undefined, false],
  ['an empty selector', {}, true],
  ['a label that is there', { matchLabels: { app: 'web' } }, true],
  ['a label with another value', { matchLabels: { app: 'web', tier: 'back' } }, false],
  ['In', expression('app', 'In', 'db', 'web'), true],
  ['In without the label', expression('zone', 'In', 'a'), false],
  ['NotIn', expression('app', 'NotIn', 'db'), true],
  ['NotIn with the value', expression('app', 'NotIn', 'web'), false],
  ['NotIn without the label', expression('zone', 'NotIn', 'a'), true],
  ['Exists', expression('app', 'Exists'), true],
  ['Exists without the label', expression('constructor', 'Exists'), false],
  ['DoesNotExist', expression('zone', 'DoesNotExist'), true],
  ['an operator that nobody knows', expression('app', 'Near', 'web'), false],
  ['both', { matchLabels: { app: 'web' }, ...expression('tier', 'In', 'back') }, false],
]
for (const [name, selector, expected] of rows) {
  test(`matchesLabelSelector(): ${name}`, () => assert.equal(matchesLabelSelector(selector, labels), expected))
}
