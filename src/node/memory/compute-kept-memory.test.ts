import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestMemory, showMemoryTable, toMemoryTable } from '../../../test/builders/create-memory-policy.ts'
import { computeKeptMemory } from './compute-kept-memory.ts'
import type { MemoryPolicy } from './memory-state.ts'

const TWO = createTestMemory([10, 10])
const CHANGED = 'the machine or what is reserved of it has changed'
const LOST = 'some memory is not there any more, is reserved now, or was given away twice'

interface Row {
  readonly name: string
  readonly recorded: string
  readonly was?: MemoryPolicy
  readonly kept: string
  readonly problem?: string
}

const rows: readonly Row[] = [
  { name: 'all of it', recorded: 'a: x=0:4 y=0:4 b: x=1:10', kept: 'a: x=0:4 y=0:4 b: x=1:10' },
  { name: 'groups', recorded: 'a: x=0,1:12 b: x=0,1:8', kept: 'a: x=0,1:12 b: x=0,1:8' },
  { name: 'a record to which nothing was written', recorded: '', was: new Map(), kept: '' },
  {
    name: 'all of it on a machine that has more now',
    recorded: 'a: x=0:4',
    was: createTestMemory([5, 5]),
    kept: 'a: x=0:4',
    problem: CHANGED,
  },
  { name: 'not what a node does not have', recorded: 'a: x=0:8 b: x=0:8', kept: 'a: x=0:8', problem: LOST },
  { name: 'not what is on a node that is gone', recorded: 'a: x=2:1 y=0:1', kept: 'a: y=0:1', problem: LOST },
  { name: 'not what is in two companies', recorded: 'a: x=0:1 b: x=0,1:4', kept: 'a: x=0:1', problem: LOST },
  { name: 'not what is on no node', recorded: 'a: x=:1', kept: '', problem: LOST },
]

describe('computeKeptMemory() keeps', () => {
  for (const { name, recorded, was = TWO, kept, problem } of rows) {
    test(name, () => {
      const result = computeKeptMemory({ sizes: was, assignments: toMemoryTable(recorded) }, TWO, 'off')
      assert.deepEqual([showMemoryTable(result.assignments), result.problem], [kept, problem])
    })
  }

  test('and says what it does not keep', () => {
    const { dropped } = computeKeptMemory({ sizes: TWO, assignments: toMemoryTable('a: x=2:1 y=0:1') }, TWO, 'off')
    assert.deepEqual(dropped, [{ uid: 'a', container: 'x' }])
  })
})
