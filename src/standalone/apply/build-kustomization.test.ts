import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toReason } from './build-kustomization.ts'

test('toReason() leaves out what is about kubectl itself', () => {
  assert.equal(toReason("error: accumulating resources: 'a.yaml'\n"), "accumulating resources: 'a.yaml'")
  const logged = 'E1117 16:23:17.261337    2845 run.go:72] "command failed" err="accumulating \\"a.yaml\\""\n'
  assert.equal(toReason(logged), 'accumulating "a.yaml"')
  assert.equal(toReason(''), '')
})
