import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { ResourceRequirements } from '../../../model/generated/core-v1.ts'
import { computeResizeOrder } from './compute-resize-order.ts'
import type { PendingResize } from './compute-resize-order.ts'

const burstable = (cpu: string): ResourceRequirements => ({ requests: { cpu } })
const guaranteed = (cpu: string): ResourceRequirements => ({
  requests: { cpu, memory: '1Mi' },
  limits: { cpu, memory: '1Mi' },
})

function waiting(
  name: string,
  [before, after]: readonly [ResourceRequirements, ResourceRequirements],
  { priority, since }: { readonly priority?: number; readonly since?: string } = {},
): PendingResize {
  const sized = (resources: ResourceRequirements) =>
    createPod({
      metadata: { name },
      spec: { containers: [createContainer({ resources })], ...(priority !== undefined && { priority }) },
    })
  return { pod: sized(after), allocated: sized(before), since }
}

test('computeResizeOrder() begins with those that make room, then goes by priority, class and time', () => {
  const more = [burstable('1'), burstable('2')] as const
  const pending = [
    waiting('new', more),
    waiting('late', more, { since: '2026-01-01T00:01:00Z' }),
    waiting('early', more, { since: '2026-01-01T00:00:59Z' }),
    waiting('guaranteed', [guaranteed('1'), guaranteed('2')]),
    waiting('important', more, { priority: 1000 }),
    waiting('less', [burstable('2'), burstable('1')]),
  ]
  assert.deepEqual(
    computeResizeOrder(pending).map(({ pod }) => pod.metadata.name),
    ['less', 'important', 'guaranteed', 'early', 'late', 'new'],
  )
})
