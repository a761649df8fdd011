import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { computeCsiNodeChange } from './compute-csi-node-change.ts'
import type { CsiNode, CsiNodeDriver, DriverInfo, KnownDrivers } from './csi-node-object.ts'

const owner = { name: 'node-1', uid: 'u-1' }
const MIGRATED = 'storage.alpha.kubernetes.io/migrated-plugins'
const plugins =
  'kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/cinder,kubernetes.io/gce-pd,' +
  'kubernetes.io/portworx-volume,kubernetes.io/vsphere-volume'
const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', ...owner }]

function info(change: Partial<DriverInfo> = {}): DriverInfo {
  return { nodeId: 'n', maxVolumes: 0n, topology: {}, ...change }
}

function csiNode(drivers: readonly CsiNodeDriver[], metadata: CsiNode['metadata'] = {}): CsiNode {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name: 'node-1', annotations: { [MIGRATED]: plugins }, ownerReferences, ...metadata },
    spec: { drivers },
  }
}

const plain = { name: 'a', nodeID: 'n', topologyKeys: [] }
const other = { name: 'other', nodeID: 'o', topologyKeys: ['zone'], allocatable: { count: 3 } }

type Row = readonly [
  string,
  existing: CsiNode | undefined,
  known: Readonly<Record<string, DriverInfo | 'gone'>>,
  ReturnType<typeof computeCsiNodeChange>,
]
const rows: readonly Row[] = [
  ['makes one without drivers', undefined, {}, { kind: 'create', object: csiNode([]) }],
  [
    'makes one with the drivers that are there already',
    undefined,
    { a: info({ maxVolumes: 5n, topology: { zone: 'x', rack: 'y' } }), b: 'gone' },
    {
      kind: 'create',
      object: csiNode([{ name: 'a', nodeID: 'n', topologyKeys: ['rack', 'zone'], allocatable: { count: 5 } }]),
    },
  ],
  ['leaves one alone that says it', csiNode([other, plain]), { a: info() }, undefined],
  ['leaves drivers alone that it knows nothing of', csiNode([other]), {}, undefined],
  [
    'takes a list without keys for an empty one',
    csiNode([{ name: 'a', nodeID: 'n', topologyKeys: null }]),
    { a: info() },
    undefined,
  ],
  ['adds a driver at the end', csiNode([other]), { a: info() }, { kind: 'replace', object: csiNode([other, plain]) }],
  [
    'takes out a driver that is gone',
    csiNode([plain, other]),
    { a: 'gone' },
    { kind: 'replace', object: csiNode([other]) },
  ],
  [
    'changes the count where it is',
    csiNode([plain, other]),
    { a: info({ maxVolumes: 7n }) },
    { kind: 'replace', object: csiNode([{ ...plain, allocatable: { count: 7 } }, other]) },
  ],
  [
    'no count means any number',
    csiNode([{ ...plain, allocatable: { count: 7 } }]),
    { a: info() },
    { kind: 'replace', object: csiNode([plain]) },
  ],
  [
    'a count below 0 is none',
    csiNode([]),
    { a: info({ maxVolumes: -1n }) },
    { kind: 'replace', object: csiNode([plain]) },
  ],
  [
    'a count has an end',
    csiNode([]),
    { a: info({ maxVolumes: 2n ** 40n }) },
    { kind: 'replace', object: csiNode([{ ...plain, allocatable: { count: 2_147_483_647 } }]) },
  ],
  [
    'takes an entry out first whose id is another',
    csiNode([plain, other]),
    { a: info({ nodeId: 'm' }) },
    { kind: 'replace', object: csiNode([other]) },
  ],
  [
    'takes an entry out first whose topology is another',
    csiNode([other]),
    { other: info({ nodeId: 'o', topology: { rack: 'x' } }) },
    { kind: 'replace', object: csiNode([]) },
  ],
  [
    'keeps what else is in the object',
    csiNode([], { resourceVersion: '7', labels: { a: 'b' }, annotations: { mine: '1', [MIGRATED]: 'x' } }),
    {},
    {
      kind: 'replace',
      object: csiNode([], {
        resourceVersion: '7',
        labels: { a: 'b' },
        annotations: { mine: '1', [MIGRATED]: plugins },
      }),
    },
  ],
  [
    'does not mind the order of migrated plugins',
    csiNode([], { annotations: { [MIGRATED]: plugins.split(',').toReversed().join(',') } }),
    {},
    undefined,
  ],
  [
    'deletes one of an earlier node of this name',
    csiNode([plain], { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u-0' }] }),
    { a: info() },
    { kind: 'delete' },
  ],
  ['deletes one without an owner', csiNode([], { ownerReferences: [] }), {}, { kind: 'delete' }],
]

describe('computeCsiNodeChange()', () => {
  for (const [name, existing, known, expected] of rows) {
    test(name, () => {
      assert.deepEqual(computeCsiNodeChange(existing, owner, new Map(Object.entries(known))), expected)
    })
  }

  test('comes to an end within four steps, and never changes more of an entry than its count', () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const entry = fc.record({
      nodeID: fc.constantFrom('n', 'm'),
      topologyKeys: fc.subarray(['x', 'y']),
      allocatable: fc.constantFrom({}, { count: 2 }),
    })
    const drivers = fc
      .dictionary(name, entry)
      .map((entries) => Object.entries(entries).map(([driver, rest]) => ({ name: driver, ...rest })))
    const known = fc.dictionary(
      name,
      fc.oneof(
        fc.constant('gone' as const),
        fc.record({
          nodeId: fc.constantFrom('n', 'm'),
          maxVolumes: fc.constantFrom(0n, 2n, 5n),
          topology: fc.dictionary(fc.constantFrom('x', 'y'), fc.constant('1')),
        }),
      ),
    )
    const existing = fc.option(
      fc.tuple(drivers, fc.boolean()).map(([list, isOwned]) => csiNode(list, isOwned ? {} : { ownerReferences: [] })),
      { nil: undefined },
    )
    fc.assert(
      fc.property(existing, known, (start, wanted) => {
        const map: KnownDrivers = new Map(Object.entries(wanted))
        let current = start
        for (let steps = 0; steps < 4; steps += 1) {
          const change = computeCsiNodeChange(current, owner, map)
          if (change === undefined) return checkEnd(current, map)
          const next = change.kind === 'delete' ? undefined : change.object
          for (const { name: driver, nodeID, topologyKeys } of current?.spec.drivers ?? []) {
            const same = next?.spec.drivers?.find((candidate) => candidate.name === driver)
            if (change.kind === 'replace' && same !== undefined) {
              assert.deepEqual([same.nodeID, new Set(same.topologyKeys)], [nodeID, new Set(topologyKeys)])
            }
          }
          current = next
        }
        assert.equal(computeCsiNodeChange(current, owner, map), undefined)
      }),
    )
  })
})

function checkEnd(end: CsiNode | undefined, known: KnownDrivers): void {
  for (const [driver, wanted] of known) {
    const entry = end?.spec.drivers?.find(({ name }) => name === driver)
    assert.equal(entry?.nodeID, wanted === 'gone' ? undefined : wanted.nodeId)
  }
}
