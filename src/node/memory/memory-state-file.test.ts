import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createTestMemory, showMemoryTable, toMemoryTable } from '../../../test/builders/create-memory-policy.ts'
import { createMemoryPolicy } from './create-memory-policy.ts'
import { formatMemoryStateFile, parseMemoryStateFile } from './memory-state-file.ts'
import { toMachineMemory } from './memory-state.ts'
import { UNPLACED_STATE } from './unplaced-memory.ts'

const EMPTY_TABLE = '{"total":0,"systemReserved":0,"allocatable":0,"reserved":0,"free":0}'
/** As a Go kubelet of 1.36 wrote it: two pods, of which one has two init containers. */
const WRITTEN = `{"policyName":"Static","machineState":{"0":{"numberOfAssignments":6,"memoryMap":{"hugepages-1Gi":${EMPTY_TABLE},"hugepages-2Mi":${EMPTY_TABLE},"memory":{"total":19420221440,"systemReserved":629145600,"allocatable":18791075840,"reserved":310378496,"free":18480697344}},"cells":[0]}},"entries":{"2f8d49f88802855c752f81a19eb0b9d5":{"main":[{"numaAffinity":[0],"type":"memory","size":67108864}],"side":[{"numaAffinity":[0],"type":"memory","size":33554432}]},"ec03f2fe9e3db01f4144cbec509c7e40":{"i1":[{"numaAffinity":[0],"type":"memory","size":50331648}],"i2":[{"numaAffinity":[0],"type":"memory","size":20971520}],"main":[{"numaAffinity":[0],"type":"memory","size":104857600}],"side":[{"numaAffinity":[0],"type":"memory","size":33554432}]}},"checksum":253994825}`

/** The machine on which it was written. */
const POLICY = createMemoryPolicy({
  nodes: [
    {
      id: 0,
      memoryBytes: 19_420_221_440n,
      hugepages: [
        { sizeBytes: 2n ** 21n, count: 0n },
        { sizeBytes: 2n ** 30n, count: 0n },
      ],
    },
  ],
  reservedMemory: [{ numaNode: 0, limits: { memory: '600Mi' } }],
  reserved: new Map([['memory', 600n * 2n ** 20n]]),
})

describe('the file of memory assignments', () => {
  test('is read and written again as the Go kubelet writes it', () => {
    const { policyName, sizes, assignments } = parseMemoryStateFile(WRITTEN)
    assert.deepEqual(sizes, POLICY)
    assert.equal(
      formatMemoryStateFile({
        policyName,
        machine: toMachineMemory(POLICY, assignments),
        assignments,
        podLevel: false,
      }),
      WRITTEN,
    )
  })

  test('has the checksum of the Go kubelet when nothing is given away', () => {
    const text = formatMemoryStateFile({
      policyName: 'Static',
      machine: toMachineMemory(POLICY, new Map()),
      assignments: new Map(),
      podLevel: false,
    })
    assert.match(text, /"cells":\[0\]}},"checksum":3096212978}$/)
    assert.equal(UNPLACED_STATE, '{"policyName":"None","machineState":{},"checksum":4236770233}')
  })

  test('has nodes in the order of their texts, as Go has them', () => {
    const policy = createTestMemory([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    const text = formatMemoryStateFile({
      policyName: 'Static',
      machine: toMachineMemory(policy, new Map()),
      assignments: new Map(),
      podLevel: false,
    })
    assert.deepEqual(
      [...text.matchAll(/"(\d+)":\{"number/g)].map(([, id]) => id).join(' '),
      '0 1 10 11 2 3 4 5 6 7 8 9',
    )
  })

  test('gives back what was written', () => {
    const names = fc.constantFrom('a: x=0:1', 'b: y=1:2 z=0,1:3', 'c: main=3:0', 'd: init=2:1 main=2:2')
    fc.assert(
      fc.property(fc.uniqueArray(names), (parts) => {
        const assignments = toMemoryTable(parts.join(' '))
        const machine = toMachineMemory(createTestMemory([4, 4, 4, 4]), assignments)
        const text = formatMemoryStateFile({ policyName: 'Static', machine, assignments, podLevel: false })
        assert.equal(showMemoryTable(parseMemoryStateFile(text).assignments), parts.toSorted().join(' '))
      }),
    )
  })

  test('has what pods have as a whole, with the checksum of the Go kubelet for it', () => {
    const text = `{"policyName":"static","machineState":{"0":{"numberOfAssignments":0,"memoryMap":{"memory":{"total":2048,"systemReserved":512,"allocatable":1536,"reserved":512,"free":1024}},"cells":[]}},"entries":{"pod":{"container1":[{"numaAffinity":[0],"type":"memory","size":512}]}},"podEntries":{"pod":{"memoryBlocks":[{"numaAffinity":[0],"type":"memory","size":512}]}},"checksum":1278640530}`
    const { assignments } = parseMemoryStateFile(text)
    const block = { nodes: new Set([0]), type: 'memory', size: 512n }
    assert.deepEqual(
      [...assignments.values()].map((containers) => [...containers]),
      [
        [
          ['', [block]],
          ['container1', [block]],
        ],
      ],
    )
    assert.throws(() => parseMemoryStateFile(text.replaceAll('"size":512', '"size":513')), /checksum is 1278640530/)
    const machine = toMachineMemory(createTestMemory([4]), assignments)
    const written = formatMemoryStateFile({ policyName: 'Static', machine, assignments, podLevel: true })
    assert.match(
      written,
      /"podEntries":{"pod":{"memoryBlocks":\[{"numaAffinity":\[0\],"type":"memory","size":512}\]}},/,
    )
    assert.deepEqual(parseMemoryStateFile(written).assignments, assignments)
  })

  test('is taken without a checksum', () => {
    assert.equal(parseMemoryStateFile(WRITTEN.replace('253994825', '0')).assignments.size, 2)
  })

  for (const [name, text, expected] of [
    ['one digit changed', WRITTEN.replace('104857600', '104857601'), /checksum is 253994825, expected/],
    ['half of it', WRITTEN.slice(0, 300), /JSON/],
    ['a list', '[]', /expected an object/],
    ['no machine', '{"policyName":"Static","checksum":0}', /expected machineState/],
    ['a size that is none', WRITTEN.replace('"size":104857600', '"size":"1Gi"'), /expected size/],
    ['a size that no number can hold', WRITTEN.replace('"size":104857600', '"size":9007199254740993'), /expected size/],
    ['a negative size', WRITTEN.replace('"size":104857600', '"size":-1'), /expected size/],
    ['nodes that are none', WRITTEN.replaceAll('"numaAffinity":[0]', '"numaAffinity":0'), /expected numaAffinity/],
    [
      'a UID that is none',
      WRITTEN.replace('2f8d49f88802855c752f81a19eb0b9d5', '../x').replace('253994825', '0'),
      /expected the UID of a pod instead of "..\/x"/,
    ],
  ] as const) {
    test(`is rejected with ${name}`, () => assert.throws(() => parseMemoryStateFile(text), expected))
  }
})
