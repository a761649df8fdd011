import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Violation } from '../../../model/schema/validation/problem-list.ts'
import type { CSINode, CSINodeDriver } from '../../../model/generated/api-groups.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import { csiNodeRules } from './csi-node-rules.ts'

const disk = { name: 'disk.example.com', nodeID: 'n', topologyKeys: ['example.com/zone'], allocatable: { count: 3 } }
const csiNode = (...drivers: readonly CSINodeDriver[]): ObjectOf<CSINode> => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSINode',
  metadata: { name: 'node-1' },
  spec: { drivers },
})

function reported(violations: readonly Violation[] | undefined): readonly string[] {
  return (violations ?? []).map(({ path, rule }) => `${path.toString()}: ${rule}`)
}

describe('csiNodeRules', () => {
  const rows: readonly (readonly [string, readonly CSINodeDriver[], readonly string[]])[] = [
    ['takes none', [], []],
    ['takes a whole one', [disk, { name: 'b', nodeID: 'm' }], []],
    [
      'wants a name and an id',
      [{ name: '', nodeID: '' }],
      ['spec.drivers[0].name: Required value', 'spec.drivers[0].nodeID: Required value'],
    ],
    [
      'wants an id that fits',
      [{ ...disk, nodeID: 'x'.repeat(257) }],
      ['spec.drivers[0].nodeID: Too long: may not be more than 256 bytes'],
    ],
    ['wants each once', [disk, disk], ['spec.drivers[1].name: Duplicate value: "disk.example.com"']],
    [
      'wants each key once',
      [{ ...disk, topologyKeys: ['a', 'a'] }],
      ['spec.drivers[0].topologyKeys[1]: Duplicate value: "a"'],
    ],
    [
      'wants a count',
      [{ ...disk, allocatable: { count: -1 } }],
      ['spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0'],
    ],
  ]
  for (const [name, drivers, expected] of rows) {
    test(name, () => assert.deepEqual(reported(csiNodeRules.validate?.(csiNode(...drivers))), expected))
  }

  const other = { name: 'b', nodeID: 'm', topologyKeys: [] }
  const changes: readonly (readonly [string, readonly CSINodeDriver[], isTaken: boolean])[] = [
    ['lets drivers come', [disk, other], true],
    ['lets drivers go', [], true],
    ['lets the count change', [{ ...disk, allocatable: { count: 9 } }], true],
    ['lets the count go', [{ name: disk.name, nodeID: 'n', topologyKeys: disk.topologyKeys }], true],
    ['does not let an id change', [{ ...disk, nodeID: 'm' }], false],
    ['does not let the topology change', [{ ...disk, topologyKeys: [] }], false],
  ]
  for (const [name, drivers, isTaken] of changes) {
    test(name, () => {
      const found = reported(csiNodeRules.validateUpdate?.(csiNode(...drivers), csiNode(disk)))
      assert.deepEqual(
        found.map((text) => /^spec\.drivers: Invalid value: .*: field is immutable$/.test(text)),
        isTaken ? [] : [true],
      )
    })
  }
})
