import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createMemoryPolicy } from './create-memory-policy.ts'

const MIB = 2n ** 20n
const NODES = [0, 1].map((id) => ({
  id,
  memoryBytes: 1024n * MIB,
  hugepages: [{ sizeBytes: 2n * MIB, count: id === 1 ? 10n : 0n }],
}))

const create = (limits: readonly Readonly<Record<string, string>>[], memory: bigint, nodes = NODES) =>
  createMemoryPolicy({
    nodes,
    reservedMemory: limits.map((each, numaNode) => ({ numaNode, limits: each })),
    reserved: new Map(memory === 0n ? [] : [['memory', memory * MIB]]),
  })

describe('createMemoryPolicy()', () => {
  test('takes what is reserved, and what huge pages have, from each node', () => {
    const policy = create([{ memory: '100Mi' }, { memory: '52428800' }], 150n)
    const shown = [...policy].flatMap(([node, kinds]) =>
      [...kinds].map(([type, size]) =>
        [node, type, ...Object.values(size).map((bytes: bigint) => Number(bytes / MIB))].join(' '),
      ),
    )
    assert.deepEqual(shown, [
      '0 hugepages-2Mi 0 0 0',
      '0 memory 1024 100 924',
      '1 hugepages-2Mi 20 0 20',
      '1 memory 1024 50 954',
    ])
  })

  for (const [name, make, expected] of [
    [
      'more than is reserved of the machine',
      () => create([{ memory: '100Mi' }, { memory: '100Mi' }], 150n),
      /^Error: Cannot use the memory policy "Static": reservedMemory has 200Mi of memory, expected 150Mi, which is what systemReserved, kubeReserved and evictionHard keep together$/,
    ],
    ['less', () => create([{ memory: '100Mi' }], 150n), /reservedMemory has 100Mi of memory, expected 150Mi/],
    [
      'huge pages that are not reserved',
      () => create([{ memory: '100Mi', 'hugepages-2Mi': '4Mi' }], 100n),
      /reservedMemory has 4Mi of hugepages-2Mi, expected 0/,
    ],
    [
      'a node that is not there',
      () => create([{}, {}, { memory: '100Mi' }], 100n),
      /Cannot reserve memory on NUMA node 2: expected one of this machine: 0,1/,
    ],
    ['nothing reserved', () => create([], 0n), /expected memory to be reserved, by systemReserved/],
    [
      'more than a node has',
      () => create([{}, { memory: '1010Mi' }], 1010n),
      /Cannot reserve 1010Mi of memory on NUMA node 1: expected no more than it has/,
    ],
  ] as const) {
    test(`fails with ${name}`, () => assert.throws(make, expected))
  }
})
