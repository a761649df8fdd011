import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import type { PodParts } from '../../../test/builders/create-pod.ts'
import { isCriticalPod, isNodeCriticalPod } from './critical-pod.ts'

const annotated = (name: string, value: string) => ({ annotations: { [`kubernetes.io/config.${name}`]: value } })
const priorityClassName = 'system-node-critical'

test('isCriticalPod() and isNodeCriticalPod()', () => {
  const rows: readonly (readonly [PodParts, critical: boolean, nodeCritical: boolean])[] = [
    [{}, false, false],
    [{ metadata: annotated('source', 'api') }, false, false],
    [{ metadata: annotated('source', 'file') }, true, false],
    [{ metadata: annotated('source', 'file'), spec: { priorityClassName } }, true, true],
    [{ metadata: annotated('mirror', 'hash') }, true, false],
    [{ spec: { priority: 1_999_999_999, priorityClassName } }, false, false],
    [{ spec: { priority: 2_000_000_000 } }, true, false],
    [{ spec: { priority: 2_000_001_000, priorityClassName } }, true, true],
  ]
  for (const [parts, critical, nodeCritical] of rows) {
    const pod = createPod(parts)
    assert.deepEqual([isCriticalPod(pod), isNodeCriticalPod(pod)], [critical, nodeCritical])
  }
})
