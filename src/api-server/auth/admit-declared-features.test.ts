import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFakeObjects } from '../../../test/fakes/fake-objects.ts'
import { ApiError } from '../api-error.ts'
import type { ApiObject } from '../store/api-object.ts'
import { admitDeclaredFeatures, admitUsersInHostNetwork } from './admit-declared-features.ts'

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

describe('admitUsersInHostNetwork()', () => {
  const podWith = (spec: object) =>
    ({ kind: 'Pod', metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [], ...spec } }) as ApiObject
  const holder = (kind: string, spec: object) => ({ kind, metadata: { name: 'w', namespace: 'n' }, spec }) as ApiObject
  const able = createFakeObjects({
    nodes: [{ metadata: { name: 'n' }, status: { declaredFeatures: ['UserNamespacesHostNetworkSupport'] } }],
  })
  const both = podWith({ hostNetwork: true, hostUsers: false })
  const rows: readonly (readonly [string, ApiObject | undefined, ApiObject, typeof objects, string | undefined])[] = [
    ['a new pod, and no node that can run it', undefined, both, objects, 'spec.hostNetwork: Forbidden: not together'],
    ['a new pod, and a node that can', undefined, both, able, undefined],
    ['a pod that is there already', both, both, objects, undefined],
    ['a new pod in the network of the node', undefined, podWith({ hostNetwork: true }), objects, undefined],
    ['a new pod with users of its own', undefined, podWith({ hostUsers: false }), objects, undefined],
  ]
  for (const [name, before, after, view, expected] of rows)
    test(name, () => {
      const judge = () =>
        admitUsersInHostNetwork({ key: { resource: 'pods', namespace: 'n', name: 'p' }, before, after }, view)
      if (expected === undefined) return judge()
      assert.throws(judge, (error) => isInvalid(error, expected))
    })

  const template = { spec: { containers: [], hostNetwork: true, hostUsers: false } }
  const holders: readonly (readonly [resource: string, object: ApiObject, place: string])[] = [
    ...['deployments.apps', 'replicasets.apps', 'daemonsets.apps', 'statefulsets.apps', 'jobs.batch'].map(
      (resource) => [resource, holder('Any', { template }), 'spec.template.spec.hostNetwork'] as const,
    ),
    [
      'cronjobs.batch',
      holder('CronJob', { jobTemplate: { spec: { template } } }),
      'spec.jobTemplate.spec.template.spec.hostNetwork',
    ],
  ]
  for (const [resource, after, place] of holders)
    test(`a template of ${resource} is judged like a pod`, () => {
      const key = { resource, namespace: 'n', name: 'w' }
      assert.throws(
        () => admitUsersInHostNetwork({ key, before: undefined, after }, objects),
        (error) => isInvalid(error, `${place}: Forbidden: not together with hostUsers: false`),
      )
      admitUsersInHostNetwork({ key, before: undefined, after }, able)
      admitUsersInHostNetwork({ key, before: after, after }, objects)
      admitUsersInHostNetwork({ key, before: after, after: undefined }, objects)
    })
})

function isInvalid(error: unknown, expected: string): true {
  assert.ok(error instanceof ApiError)
  assert.equal(error.status.code, 422)
  assert.ok(error.message.includes(expected), error.message)
  return true
}
