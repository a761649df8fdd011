import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFakeObjects } from '../../../test/fakes/fake-objects.ts'
import { ApiError } from '../api-error.ts'
import type { ApiObject } from '../store/api-object.ts'
import { admitDeclaredFeatures } from './admit-declared-features.ts'

const POD_LEVEL = 'InPlacePodLevelResourcesVerticalScaling'
const objects = createFakeObjects({
  nodes: [
    { metadata: { name: 'old', uid: 'u-1' } },
    { metadata: { name: 'new', uid: 'u-2' }, status: { declaredFeatures: [POD_LEVEL] } },
  ],
})

function podOn(nodeName: string | undefined, cpu: string): ApiObject {
  const spec = { ...(nodeName && { nodeName }), containers: [], resources: { requests: { cpu } } }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec }
}

function judge(before: ApiObject | undefined, after: ApiObject | undefined): string | undefined {
  const key = { resource: 'pods', namespace: 'n', name: 'p' }
  try {
    admitDeclaredFeatures({ key, before, after }, objects)
    return undefined
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.status.code, 403)
    return error.message
  }
}

describe('admitDeclaredFeatures()', () => {
  const rejected = (why: string) => `pods "p" is forbidden: ${why}`
  const rows: readonly (readonly [string, string | undefined, string | undefined])[] = [
    [
      'a resize that the node has not declared',
      judge(podOn('old', '1'), podOn('old', '2')),
      rejected(`pod update requires features ${POD_LEVEL} which are not available on node "old"`),
    ],
    ['a resize that the node has declared', judge(podOn('new', '1'), podOn('new', '2')), undefined],
    ['a resize on no node', judge(podOn(undefined, '1'), podOn(undefined, '2')), undefined],
    ['a pod on a node that is gone', judge(podOn('x', '1'), podOn('x', '2')), rejected('node "x" not found')],
    ['an update that changes nothing', judge(podOn('old', '1'), podOn('old', '1')), undefined],
    ['a new pod', judge(undefined, podOn('old', '1')), undefined],
    ['a removed pod', judge(podOn('old', '1'), undefined), undefined],
  ]
  for (const [name, found, expected] of rows) test(name, () => assert.equal(found, expected))
})
