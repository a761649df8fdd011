import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OwnerReference } from '../../../model/generated/core-v1.ts'
import { livePod } from '../../../../test/builders/workloads.ts'
import { computeClaims } from './compute-claims.ts'

const controlledBy = (uid: string): OwnerReference[] => [
  { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid, controller: true },
]

describe('computeClaims()', () => {
  for (const [owner, isMatching, isDeleting, expected] of [
    ['other', true, false, 'ignore'],
    ['this', true, false, 'mine'],
    ['this', true, true, 'mine'],
    ['this', false, false, 'release'],
    ['this', false, true, 'ignore'],
    ['none', true, false, 'adopt'],
    ['none', true, true, 'ignore'],
    ['none', false, false, 'ignore'],
  ] as const) {
    const words = [isMatching ? 'matches' : 'does not match', isDeleting ? 'is being deleted' : 'is there']
    test(`a child of ${owner} that ${words[0]} an owner that ${words[1]}: ${expected}`, () => {
      const pod = livePod({ name: 'p' })
      const child =
        owner === 'none' ? pod : { ...pod, metadata: { ...pod.metadata, ownerReferences: controlledBy(owner) } }
      const input = { ownerUid: 'this', isOwnerDeleting: isDeleting, children: [child], matches: () => isMatching }
      const { mine, adopt, release } = computeClaims(input)
      const found = mine.length > 0 ? 'mine' : adopt.length > 0 ? 'adopt' : release.length > 0 ? 'release' : 'ignore'
      assert.equal(found, expected)
    })
  }

  test('nothing that is being deleted is adopted', () => {
    const pod = livePod({ name: 'p' })
    const leaving = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    const input = { ownerUid: 'this', isOwnerDeleting: false, children: [leaving], matches: () => true }
    assert.deepEqual(computeClaims(input), { mine: [], adopt: [], release: [] })
  })
})
