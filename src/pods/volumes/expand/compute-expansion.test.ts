import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PersistentVolumeClaim } from '../../../model/generated/core-v1.ts'
import { computeExpansion } from './compute-expansion.ts'
import type { Expansion } from './compute-expansion.ts'

const GIBIBYTE = 1024n ** 3n

function claim(
  status: PersistentVolumeClaim['status'],
  parts: { readonly modes?: readonly string[]; readonly annotations?: Readonly<Record<string, string>> } = {},
): PersistentVolumeClaim {
  const { modes = ['ReadWriteOnce'], annotations = {} } = parts
  return {
    metadata: { annotations },
    spec: { accessModes: modes },
    status: { capacity: { storage: '1Gi' }, ...status },
  }
}

const expand = (size: string, followed: boolean, claimIsUpdated = false): Expansion => ({
  kind: 'expand',
  size,
  followed,
  claimIsUpdated,
})
const none: Expansion = { kind: 'none' }
const allocated = { allocatedResources: { storage: '2Gi' } }
const grown = { ...allocated, capacity: { storage: '2Gi' } }
const many = { modes: ['ReadWriteMany'] }

const rows: readonly (readonly [string, PersistentVolumeClaim, Expansion])[] = [
  ['an older controller says nothing of steps', claim({}), expand('2Gi', false)],
  [
    'a controller that leaves the rest to the node',
    claim({ ...allocated, allocatedResourceStatuses: { storage: 'NodeResizePending' } }),
    expand('2Gi', true),
  ],
  [
    'a node that was at it already',
    claim({ ...allocated, allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } }),
    expand('2Gi', true),
  ],
  [
    'another size than that of the volume',
    claim({ allocatedResources: { storage: '3Gi' }, allocatedResourceStatuses: { storage: 'NodeResizePending' } }),
    expand('3Gi', true),
  ],
  [
    'a controller that is still at it',
    claim({ ...allocated, allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' } }),
    none,
  ],
  [
    'a size that cannot be',
    claim({ ...allocated, allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } }),
    none,
  ],
  ['nothing for nodes to do', claim(grown), { kind: 'done', size: '2Gi' }],
  ['a share that another node has made larger', claim(grown, many), expand('2Gi', true, true)],
  [
    'a share that no node has to make larger',
    claim(grown, { ...many, annotations: { 'volume.kubernetes.io/node-expansion-not-required': 'true' } }),
    { kind: 'done', size: '2Gi' },
  ],
  ['a claim without a word yet', claim(allocated), none],
]

describe('computeExpansion()', () => {
  for (const [what, given, expected] of rows)
    test(what, () => assert.deepEqual(computeExpansion({ claim: given, capacity: '2Gi', known: GIBIBYTE }), expected))

  test('nothing for a volume that is no larger than it was, or has no size', () => {
    for (const capacity of ['1Gi', '1Mi', undefined, 'x'])
      assert.deepEqual(computeExpansion({ claim: claim({}), capacity, known: GIBIBYTE }), none)
  })
})
