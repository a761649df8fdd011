import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '../../model/generated/core-v1.ts'
import { LiveObjects } from './live-objects.ts'

const pod = (name: string, version: number, uid = name): Pod => ({
  metadata: { name, namespace: 'default', uid, resourceVersion: String(version) },
})

function setUp() {
  const objects = new LiveObjects<Pod>()
  const versions = () => objects.all().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
  return { objects, versions }
}

describe('LiveObjects', () => {
  test('what we wrote counts before the watch reports it, and older reports do not undo it', () => {
    const { objects, versions } = setUp()
    objects.replace([pod('a', 1)], '5')
    objects.wrote(pod('b', 10))
    objects.wrote(pod('a', 11))
    objects.apply({ type: 'MODIFIED', object: pod('a', 9) })
    assert.deepEqual(versions(), ['a@11', 'b@10'])
  })

  test('a list that is older than a write does not lose it', () => {
    const { objects, versions } = setUp()
    objects.wrote(pod('new', 10))
    objects.replace([pod('old', 3)], '9')
    assert.deepEqual(versions(), ['new@10', 'old@3'])
    objects.replace([], '20')
    assert.deepEqual(versions(), [])
  })

  test('what the API said is gone stays gone, until an object of that name has another UID', () => {
    const { objects, versions } = setUp()
    objects.replace([pod('a', 1)], '5')
    const known = objects.get('default', 'a')
    assert.ok(known)
    objects.lost(known)
    objects.apply({ type: 'MODIFIED', object: pod('a', 6) })
    assert.deepEqual(versions(), [])
    objects.apply({ type: 'ADDED', object: pod('a', 8, 'other') })
    objects.apply({ type: 'DELETED', object: pod('a', 7) })
    assert.deepEqual(versions(), ['a@8'])
  })

  test('an answer that comes after the end of its object brings nothing back', () => {
    const { objects, versions } = setUp()
    objects.replace([pod('a', 1)], '5')
    objects.apply({ type: 'DELETED', object: pod('a', 9) })
    objects.wrote(pod('a', 7))
    assert.deepEqual(versions(), [])
  })

  test('finds what an owner controls, and what none does', () => {
    const { objects } = setUp()
    const owned = pod('owned', 2)
    const ownerReferences = [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u', controller: true }]
    objects.replace([pod('free', 1), { metadata: { ...owned.metadata, ownerReferences } }], '5')
    const names = (uid?: string) => objects.controlledBy('default', uid).map(({ metadata }) => metadata.name)
    assert.deepEqual([names('u'), names()], [['owned'], ['free']])
    objects.apply({ type: 'MODIFIED', object: pod('owned', 9) })
    assert.deepEqual([names('u'), names()], [[], ['free', 'owned']])
  })
})
