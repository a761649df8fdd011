import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFakeObjects } from '../../../test/fakes/fake-objects.ts'
import { ApiError } from '../api-error.ts'
import type { ApiObject } from '../store/api-object.ts'
import { admitResize } from './admit-resize.ts'

const allocatable = { cpu: '2', memory: '1Gi' }
const objects = createFakeObjects({
  nodes: [
    { metadata: { name: 'node', uid: 'u-1', labels: { 'kubernetes.io/os': 'linux' } }, status: { allocatable } },
    { metadata: { name: 'other', uid: 'u-2', labels: { 'kubernetes.io/os': 'windows' } }, status: { allocatable } },
    { metadata: { name: 'new', uid: 'u-3' } },
  ],
})

interface Asked {
  readonly on?: string
  readonly cpu?: string
  readonly memory?: string
  readonly image?: string
  readonly overhead?: string
  readonly limit?: string
}

function podWith({ on, image = 'i', overhead, limit, ...requests }: Asked): ApiObject {
  const containers = [{ name: 'main', image, resources: { requests, ...(limit && { limits: { cpu: limit } }) } }]
  const spec = { ...(on && { nodeName: on }), containers, ...(overhead && { overhead: { cpu: overhead } }) }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec }
}

function judge(before: Asked | undefined, after: Asked | undefined) {
  const key = { resource: 'pods', namespace: 'n', name: 'p' }
  try {
    admitResize({ key, before: before && podWith(before), after: after && podWith(after) }, objects)
    return undefined
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.status.code, 403)
    return [error.message, error.status.details?.causes]
  }
}

describe('admitResize()', () => {
  const rejected = (why: string, reason?: string) => [
    `pods "p" is forbidden: ${why}`,
    reason === undefined ? undefined : [{ reason }],
  ]
  const small = { on: 'node', cpu: '1', memory: '1Mi' }
  const rows: readonly (readonly [string, Asked | undefined, Asked | undefined, ReturnType<typeof judge>])[] = [
    ['all that the node has', small, { ...small, cpu: '2', memory: '1Gi' }, undefined],
    [
      'more of both than the node has',
      small,
      { ...small, cpu: '2001m', memory: '1025Mi' },
      rejected(
        "node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000; memory, requested: 1074790400, allocatable: 1073741824",
        'NodeCapacity',
      ),
    ],
    [
      'more with the overhead of the pod',
      { ...small, overhead: '500m' },
      { ...small, overhead: '500m', cpu: '1600m' },
      rejected(
        "node didn't have enough allocatable resources: cpu, requested: 2100, allocatable: 2000",
        'NodeCapacity',
      ),
    ],
    [
      'less than before, and still too much',
      { ...small, cpu: '4' },
      { ...small, cpu: '3' },
      rejected(
        "node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000",
        'NodeCapacity',
      ),
    ],
    [
      'another limit of a pod that is too large',
      { ...small, cpu: '4', limit: '5' },
      { ...small, cpu: '4', limit: '6' },
      rejected(
        "node didn't have enough allocatable resources: cpu, requested: 4000, allocatable: 2000",
        'NodeCapacity',
      ),
    ],
    [
      'a node that has said nothing yet',
      { on: 'new', cpu: '1' },
      { on: 'new', cpu: '2' },
      rejected("node didn't have enough allocatable resources: cpu, requested: 2000, allocatable: 0", 'NodeCapacity'),
    ],
    [
      'a node with another system',
      { ...small, on: 'other' },
      { ...small, on: 'other', cpu: '2' },
      rejected('pod resize is only supported on linux nodes, node "other" is "windows"', 'UnsupportedPlatform'),
    ],
    ['a node that is gone', { ...small, on: 'x' }, { ...small, on: 'x', cpu: '2' }, rejected('node "x" not found')],
    ['a pod on no node', { cpu: '1' }, { cpu: '9' }, undefined],
    [
      'another change of a pod that is too large',
      { ...small, cpu: '4' },
      { ...small, cpu: '4', image: 'j' },
      undefined,
    ],
    ['a new pod', undefined, { ...small, cpu: '4' }, undefined],
    ['a removed pod', { ...small, cpu: '4' }, undefined, undefined],
  ]
  for (const [name, before, after, expected] of rows) test(name, () => assert.deepEqual(judge(before, after), expected))
})
