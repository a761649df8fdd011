import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeLabels } from './node-labels.ts'

test('nodeLabels() names machine, system and architecture as Kubernetes does', () => {
  assert.deepEqual(nodeLabels('edge', 'x64'), {
    'kubernetes.io/hostname': 'edge',
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
  })
  assert.equal(nodeLabels('edge', 'arm64')['kubernetes.io/arch'], 'arm64')
})
