import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import type { PlacementHints } from '../placement/hint-provider.ts'
import { DeviceAssignments } from './device-assignments.ts'
import type { DeviceList } from './device.ts'
import { ContainerAllocateResponse } from './generated/device-plugin-v1beta1.ts'

const GPU = 'example.com/gpu'
const NIC = 'example.com/nic'
const ANYWHERE = { nodes: undefined, preferred: true }
const uid = parsePodUid('u-1')

const STOCK: Readonly<Record<string, DeviceList>> = {
  [GPU]: new Map(['a', 'b', 'c', 'd'].map((id) => [id, { id, isHealthy: true, nodes: [id < 'c' ? 0 : 1] }])),
  [NIC]: new Map([['n', { id: 'n', isHealthy: true, nodes: [] }]]),
}

function setUp(
  recorded: readonly { readonly container: string; readonly ids: readonly string[]; readonly resource?: string }[] = [],
) {
  let changes = 0
  const assignments = new DeviceAssignments({
    inventory: { knows: (name) => name in STOCK, devices: (name) => STOCK[name] ?? new Map() },
    recorded: recorded.map(({ container, ids, resource = GPU }) => ({
      uid,
      container,
      resource,
      byNode: new Map([[0, ids]]),
      response: ContainerAllocateResponse.create(),
    })),
    numaNodes: [0, 1],
    onChange: () => void (changes += 1),
  })
  const held = () =>
    assignments.list().map(({ container, resource, devices }) => `${container} ${resource} ${devices.ids.join('')}`)
  return { assignments, held, changes: () => changes }
}

function create(limits: Readonly<Record<string, string>>, status?: PodStatus) {
  const container = createContainer({ resources: { limits } })
  const pod = createPod({ metadata: { uid: 'u-1' }, spec: { containers: [container] }, ...(status && { status }) })
  return { pod, container }
}

const shown = (hints: PlacementHints) =>
  [...hints].map(([name, list]) => {
    const texts = list?.map(({ nodes, preferred }) => `${[...nodes].join('')}${preferred ? '*' : ''}`)
    return `${name}: ${texts?.join(' ') ?? 'any'}`
  })

describe('DeviceAssignments', () => {
  test('gives each resource that a container asks for, near to where it should be', () => {
    const { assignments, held, changes } = setUp()
    const { pod, container } = create({ cpu: '2', [GPU]: '1', [NIC]: '1', 'unknown.com/x': '3' })
    assert.deepEqual(shown(assignments.hints(pod, container)), [`${GPU}: 0* 1* 01`, `${NIC}: any`])
    assert.equal(assignments.allocate(pod, container, { nodes: new Set([1]), preferred: true }), undefined)
    assert.deepEqual([held(), changes()], [[`main ${GPU} c`, `main ${NIC} n`], 2])
    assert.deepEqual(shown(assignments.hints(pod, container)), [`${GPU}: 1* 01`, `${NIC}: any`])
    assert.deepEqual(shown(assignments.podHints(pod)), [`${GPU}: 1* 01`, `${NIC}: any`])
    // A container that has its devices is given no more.
    assert.equal(assignments.allocate(pod, container, ANYWHERE), undefined)
    assert.equal(held().length, 2)
    assignments.release(uid)
    assert.deepEqual([held(), assignments.uids], [[], []])
  })

  test('says why something cannot be given', () => {
    const { assignments } = setUp([
      { container: 'other', ids: ['a'] },
      { container: 'main', ids: ['b', 'c'] },
      { container: 'other', ids: ['x'], resource: 'gone.com/x' },
    ])
    const rejectionOf = (limits: Readonly<Record<string, string>>) => {
      const { pod, container } = create(limits)
      return assignments.allocate(pod, container, ANYWHERE)?.message
    }
    const because = (why: string) => `Allocate failed due to ${why}, which is unexpected`
    assert.equal(
      rejectionOf({ [GPU]: '1' }),
      because(`pod "u-1" container "main" changed request for resource "${GPU}" from 2 to 1`),
    )
    assert.equal(rejectionOf({ 'gone.com/x': '1' }), because('cannot allocate unregistered device gone.com/x'))
    assert.equal(
      rejectionOf({ [NIC]: '2' }),
      because(`requested number of devices unavailable for ${NIC}. Requested: 2, Available: 1`),
    )
  })

  test('has no hint where too few are left, and none that does not fit what it has', () => {
    const { assignments } = setUp([{ container: 'other', ids: ['a', 'b', 'c'] }])
    const { pod, container } = create({ [GPU]: '2' })
    assert.deepEqual(shown(assignments.hints(pod, container)), [`${GPU}: `])
    assert.deepEqual(shown(assignments.podHints(pod)), [`${GPU}: `])
  })

  test('leaves alone what a claim provides', () => {
    const { assignments } = setUp()
    const mapping = { containerName: 'main', requestName: 'r', resourceName: GPU }
    const { pod, container } = create(
      { [GPU]: '1' },
      { extendedResourceClaimStatus: { resourceClaimName: 'c', requestMappings: [mapping] } },
    )
    assert.deepEqual(assignments.requested(pod, container), new Map())
  })

  test('knows what runs with recorded devices to be in use', () => {
    const { assignments } = setUp([{ container: 'main', ids: ['a'] }])
    const place = { uid, container: 'main', resource: GPU }
    const isConfirmed = () => {
      const devices = assignments.get(place)
      return devices?.kind === 'given' && devices.isConfirmed
    }
    assert.equal(isConfirmed(), false)
    assignments.confirm(uid)
    assert.equal(isConfirmed(), true)
  })
})
