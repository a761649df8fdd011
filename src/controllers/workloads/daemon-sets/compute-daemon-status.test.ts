import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DaemonSet } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { livePod } from '../../../../test/builders/workloads.ts'
import type { Live } from '../../engine/live-object.ts'
import { REVISION_HASH } from './compute-daemon-plan.ts'
import { computeDaemonStatus } from './compute-daemon-status.ts'

const now = Date.UTC(2026, 0, 2)
const set: Live<DaemonSet> = {
  metadata: { name: 'd', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 3 },
  spec: { selector: {}, template: {} },
}
const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]

function pod(
  made: number,
  fields: { readonly isReady?: boolean; readonly isLeaving?: boolean; readonly hash?: string },
) {
  const { isReady = true, isLeaving = false, hash = 'new' } = fields
  const creationTimestamp = `2026-01-01T00:00:0${made}Z`
  const deletion = isLeaving ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}
  const status = { phase: 'Running', ...(isReady && { conditions }) }
  return livePod({ name: `p${made}`, creationTimestamp, ...deletion, labels: { [REVISION_HASH]: hash } }, status)
}

for (const [name, pods, shouldRun, expected] of [
  ['no pod', [], true, [1, 0, 0, 0, 1]],
  ['a ready pod', [pod(1, {})], true, [1, 1, 1, 1, 0]],
  ['a ready pod that is on its way out', [pod(1, { isLeaving: true, hash: 'old' })], true, [1, 1, 1, 0, 0]],
  ['of two the older one', [pod(2, {}), pod(1, { isReady: false, hash: 'old' })], true, [1, 1, 0, 0, 1]],
  ['a pod that should not be there', [pod(1, {})], false, [0, 0, 0, 0, 0]],
] as const satisfies readonly (readonly [string, readonly Live<Pod>[], boolean, readonly number[]])[]) {
  test(name, () => {
    const nodes = [{ name: 'n', pods, fit: { shouldRun, mayStay: true } }]
    const status = computeDaemonStatus({ set, nodes, hash: 'new', now })
    assert.deepEqual(
      [
        status.desiredNumberScheduled,
        status.currentNumberScheduled,
        status.numberReady,
        status.updatedNumberScheduled,
        status.numberUnavailable,
      ],
      expected,
    )
    assert.equal(status.numberMisscheduled, shouldRun ? 0 : 1)
  })
}
