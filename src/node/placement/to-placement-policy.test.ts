import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createNumaPlaces } from '../../../test/builders/placement-hints.ts'
import { loadFields } from '../../../test/fakes/load-settings.ts'
import { toPlacementPolicy } from './to-placement-policy.ts'

const create = async (fields: object, nodes = createNumaPlaces(2)) => toPlacementPolicy(await loadFields(fields), nodes)

describe('toPlacementPolicy()', () => {
  test('is none when none is wanted, however many nodes there are', async () => {
    assert.equal(await create({ topologyManagerScope: 'pod' }, createNumaPlaces(20)), undefined)
  })

  test('has what is configured', async () => {
    const nodes = createNumaPlaces(2)
    const options = { 'prefer-closest-numa-nodes': 'true' }
    assert.deepEqual(
      await create(
        { topologyManagerPolicy: 'restricted', topologyManagerScope: 'pod', topologyManagerPolicyOptions: options },
        nodes,
      ),
      { kind: 'restricted', scope: 'pod', podLevel: false, preferClosest: true, nodes },
    )
  })

  test('is made for eight nodes', async () => {
    const fields = { topologyManagerPolicy: 'best-effort' }
    assert.equal((await create(fields, createNumaPlaces(8)))?.nodes.length, 8)
    await assert.rejects(
      create(fields, createNumaPlaces(9)),
      /^Error: Cannot use the topology policy "best-effort" with 9 NUMA nodes: expected at most 8, see max-allowable-numa-nodes$/,
    )
  })

  test('for more where that is wanted, but not for any number', async () => {
    const fields = {
      topologyManagerPolicy: 'best-effort',
      topologyManagerPolicyOptions: { 'max-allowable-numa-nodes': '64' },
    }
    assert.equal((await create(fields, createNumaPlaces(16)))?.nodes.length, 16)
    await assert.rejects(create(fields, createNumaPlaces(17)), /with 17 NUMA nodes: expected at most 16/)
  })

  test('needs distances to know what is near', async () => {
    const fields = {
      topologyManagerPolicy: 'best-effort',
      topologyManagerPolicyOptions: { 'prefer-closest-numa-nodes': 'true' },
    }
    await assert.rejects(
      create(fields, [{ id: 0, distances: new Map() }]),
      /with prefer-closest-numa-nodes: expected distances of all NUMA nodes/,
    )
  })
})
