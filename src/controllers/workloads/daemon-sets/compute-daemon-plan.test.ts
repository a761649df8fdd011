import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DaemonSet, DaemonSetUpdateStrategy } from '../../../model/generated/api-groups.ts'
import type { Node, Pod, Taint } from '../../../model/generated/core-v1.ts'
import { livePod } from '../../../../test/builders/workloads.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeDaemonPlan, REVISION_HASH } from './compute-daemon-plan.ts'
import { computeNodeFit } from './compute-node-fit.ts'

const now = Date.UTC(2026, 0, 2)
const meta = { namespace: 'default', uid: 'u', resourceVersion: '1' }
const rolling = (maxUnavailable: number, maxSurge: number): DaemonSetUpdateStrategy => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxUnavailable, maxSurge },
})
const set = (updateStrategy = rolling(1, 0), pod: object = {}): Live<DaemonSet> => ({
  metadata: { ...meta, name: 'd' },
  spec: { selector: {}, template: { spec: { containers: [], ...pod } }, updateStrategy },
})

/** A pod of the old or the new template. */
function pod(name: string, revision: 'old' | 'new', state: 'up' | 'down' | 'leaving' | 'Failed'): Live<Pod> {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]
  const status = state === 'Failed' ? { phase: 'Failed' } : { phase: 'Running', ...(state === 'up' && { conditions }) }
  const made = livePod({ name, labels: { [REVISION_HASH]: revision } }, status)
  if (state !== 'leaving') return made
  return { ...made, metadata: { ...made.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
}

describe('computeDaemonPlan()', () => {
  const both = { shouldRun: true, mayStay: true }
  for (const [name, strategy, fit, pods, create, remove] of [
    ['a node without a pod gets one', rolling(1, 0), both, [], 1, ''],
    ['a pod that is leaving is waited for', rolling(1, 0), both, [pod('a', 'new', 'leaving')], 0, ''],
    ['one that failed is removed first', rolling(1, 0), both, [pod('a', 'new', 'Failed')], 0, 'a'],
    ['the oldest of two stays', rolling(1, 0), both, [pod('a', 'new', 'up'), pod('b', 'new', 'up')], 0, 'b'],
    ['an old one is replaced', rolling(1, 0), both, [pod('a', 'old', 'up')], 0, 'a'],
    ['with a surge the new one comes first', rolling(0, 1), both, [pod('a', 'old', 'up')], 1, ''],
    ['… and is waited for', rolling(0, 1), both, [pod('a', 'old', 'up'), pod('b', 'new', 'down')], 0, ''],
    ['… then the old one goes', rolling(0, 1), both, [pod('a', 'old', 'up'), pod('b', 'new', 'up')], 0, 'a'],
    ['on deletion nothing is updated', { type: 'OnDelete' }, both, [pod('a', 'old', 'up')], 0, ''],
    [
      'a node that is not fit any more',
      rolling(1, 0),
      { shouldRun: false, mayStay: false },
      [pod('a', 'new', 'up')],
      0,
      'a',
    ],
    [
      'a node that takes no new one',
      rolling(1, 0),
      { shouldRun: false, mayStay: true },
      [pod('a', 'new', 'up')],
      0,
      '',
    ],
  ] as const) {
    test(name, () => {
      const plan = computeDaemonPlan({ set: set(strategy), nodes: [{ name: 'n', fit, pods }], hash: 'new', now })
      assert.deepEqual([plan.create.length, plan.remove.map(({ metadata }) => metadata.name).join()], [create, remove])
    })
  }
})

describe('computeNodeFit()', () => {
  test('a node that says nothing', () => {
    const bare = { metadata: { ...meta, name: 'n' } }
    assert.deepEqual(computeNodeFit(set(), bare), { shouldRun: true, mayStay: true })
  })

  const node = (taints: readonly Taint[] = []): Live<Node> => ({
    metadata: { ...meta, name: 'n', labels: { disk: 'fast' } },
    spec: { taints },
  })
  const taint = (key: string, effect: string): Taint => ({ key, effect })
  for (const [name, spec, taints, expected] of [
    ['a plain node', {}, [], 'run stay'],
    ['another node by name', { nodeName: 'x' }, [], ''],
    ['labels that fit', { nodeSelector: { disk: 'fast' } }, [], 'run stay'],
    ['labels that do not', { nodeSelector: { disk: 'slow' } }, [], ''],
    ['a cordoned node', {}, [taint('node.kubernetes.io/unschedulable', 'NoSchedule')], 'run stay'],
    ['a node that is not ready', {}, [taint('node.kubernetes.io/not-ready', 'NoExecute')], 'run stay'],
    ['… as new pods see it', {}, [taint('node.kubernetes.io/not-ready', 'NoSchedule')], 'stay'],
    ['a taint of its own', {}, [taint('mine', 'NoSchedule')], 'stay'],
    ['one that drives pods away', {}, [taint('mine', 'NoExecute')], ''],
    ['one that is tolerated', { tolerations: [{ operator: 'Exists' }] }, [taint('mine', 'NoExecute')], 'run stay'],
  ] as const) {
    test(name, () => {
      const { shouldRun, mayStay } = computeNodeFit(set(rolling(1, 0), spec), node(taints))
      assert.equal([shouldRun && 'run', mayStay && 'stay'].filter(Boolean).join(' '), expected)
    })
  }
})
