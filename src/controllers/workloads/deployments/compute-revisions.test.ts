import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { liveDeployment, liveSet } from '../../../../test/builders/workloads.ts'
import { computeExpiredSets, computeNewSet, computeRevision, computeSetAnnotations } from './compute-revisions.ts'
import { REVISION, REVISION_HISTORY, sameTemplate } from './deployment-sets.ts'

const at = (revision: number, replicas = 0) =>
  liveSet({ name: `r${revision}`, replicas, annotations: { [REVISION]: String(revision) } })

describe('revisions of a deployment', () => {
  test('a set that is used again gets the newest number and remembers its old one', () => {
    assert.equal(computeRevision([at(2), at(7)]), 8)
    const annotations = computeSetAnnotations(liveDeployment(), at(1), 8)
    assert.deepEqual([annotations[REVISION], annotations[REVISION_HISTORY]], ['8', '1'])
  })

  test('annotations are copied, but not those that belong to the deployment itself', () => {
    const metadata = { annotations: { team: 'a', 'kubectl.kubernetes.io/last-applied-configuration': '{}' } }
    assert.deepEqual(computeSetAnnotations(liveDeployment({}, { metadata }), at(3), 3), { team: 'a', [REVISION]: '3' })
  })

  test('a new set selects by a hash that depends on the template and on collisions', () => {
    const first = computeNewSet(liveDeployment(), [])
    const second = computeNewSet(liveDeployment({}, { status: { collisionCount: 1 } }), [])
    assert.notEqual(first.metadata.name, second.metadata.name)
    assert.equal(sameTemplate(first.spec?.template, liveDeployment().spec.template), true)
    const hash = first.spec?.selector.matchLabels?.['pod-template-hash'] ?? ''
    assert.match(hash, /^[bcdf4-9]{1,10}$/)
    assert.equal(first.metadata.name, `web-${hash}`)
  })

  test('the oldest sets beyond the limit go, unless they have pods', () => {
    const names = (limit: number) =>
      computeExpiredSets(liveDeployment({ revisionHistoryLimit: limit }), [at(3), at(1, 1), at(2)]).map(
        ({ metadata }) => metadata.name,
      )
    assert.deepEqual(names(1), ['r2'])
    assert.deepEqual(names(0), ['r2', 'r3'])
    assert.deepEqual(names(3), [])
  })
})
