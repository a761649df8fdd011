import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toTtlMs } from './node-follower.ts'

test('toTtlMs() reads the annotation of a node, if it is a number', () => {
  const of = (ttl: string) => toTtlMs({ metadata: { annotations: { 'node.alpha.kubernetes.io/ttl': ttl } } })
  assert.equal(of('15'), 15_000)
  assert.equal(of('soon'), undefined)
  assert.equal(toTtlMs({ metadata: {} }), undefined)
  assert.equal(toTtlMs(undefined), undefined)
})
