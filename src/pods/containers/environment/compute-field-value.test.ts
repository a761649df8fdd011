import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { computeFieldValue } from './compute-field-value.ts'
import { ContainerConfigError } from '../pod-config-error.ts'

const info = {
  pod: createPod({
    metadata: { labels: { 'app.test/name': 'shop' }, annotations: { note: "it's" } },
    spec: { nodeName: 'node-1', serviceAccountName: 'robot' },
  }),
  podIps: ['10.1.0.2', 'fd00::2'],
  nodeIps: ['192.0.2.1', '2001:db8::1'],
}

describe('computeFieldValue()', () => {
  const rows = [
    ['metadata.name', 'web'],
    ['metadata.namespace', 'shop'],
    ['metadata.uid', 'u-1'],
    ["metadata.labels['app.test/name']", 'shop'],
    ["metadata.labels['absent']", ''],
    ["metadata.labels['constructor']", ''],
    ["metadata.annotations['note']", "it's"],
    ['spec.nodeName', 'node-1'],
    ['spec.host', 'node-1'],
    ['spec.serviceAccountName', 'robot'],
    ['status.hostIP', '192.0.2.1'],
    ['status.hostIPs', '192.0.2.1,2001:db8::1'],
    ['status.podIP', '10.1.0.2'],
    ['status.podIPs', '10.1.0.2,fd00::2'],
  ] as const
  for (const [fieldPath, expected] of rows) {
    test(fieldPath, () => assert.equal(computeFieldValue({ fieldPath }, info), expected))
  }

  test('rejects other fields, other versions and an unknown node address', () => {
    const rejects = (selector: { fieldPath: string; apiVersion?: string }, message: string, given = info) =>
      assert.throws(() => computeFieldValue(selector, given), new ContainerConfigError(message))
    rejects({ fieldPath: 'spec.priority' }, 'field label not supported: spec.priority')
    rejects({ fieldPath: 'metadata.labels' }, 'field label not supported: metadata.labels')
    rejects({ fieldPath: 'metadata.name', apiVersion: 'v2' }, 'unsupported pod version: v2')
    const message = 'Cannot give the address of the node: it has none yet'
    rejects({ fieldPath: 'status.hostIP' }, message, { ...info, nodeIps: [] })
  })
})
