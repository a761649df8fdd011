import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EndpointSlice } from '../../../model/generated/api-groups.ts'
import type { Node, Pod, PodSpec, Service, ServiceSpec } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeEndpoints } from './compute-endpoints.ts'
import { computeMirroredGroups } from './compute-mirrored-groups.ts'
import { computeSliceGroups } from './compute-slice-groups.ts'
import { computeSlicePlan } from './compute-slice-plan.ts'
import { withoutReserved } from './service-labels.ts'

const nodes = new Map<string, Node>([['n1', { metadata: { labels: { 'topology.kubernetes.io/zone': 'z1' } } }]])

function service(spec: ServiceSpec = {}, metadata: object = {}): Live<Service> {
  return {
    metadata: { name: 'web', namespace: 'shop', uid: 'u-web', resourceVersion: '1', ...metadata },
    spec: {
      ports: [{ port: 80, targetPort: 8080, protocol: 'TCP' }],
      ipFamilies: ['IPv4'],
      clusterIP: '10.0.0.9',
      ...spec,
    },
  }
}

let count = 0
function pod(fields: { ready?: boolean; spec?: Partial<PodSpec>; metadata?: object; status?: object } = {}): Live<Pod> {
  count++
  return {
    metadata: { name: `p${count}`, namespace: 'shop', uid: `u${count}`, resourceVersion: '1', ...fields.metadata },
    spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'n1', ...fields.spec },
    status: {
      phase: 'Running',
      podIPs: [{ ip: `10.1.${count >> 8}.${count & 255}` }, { ip: `fd00::${count}` }],
      conditions: [{ type: 'Ready', status: fields.ready === false ? 'False' : 'True' }],
      ...fields.status,
    },
  }
}

const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const conditionsOf = (spec: ServiceSpec, one: Live<Pod>) =>
  computeSliceGroups({ service: service(spec), pods: [one], nodes })[0]?.endpoints[0]?.conditions

describe('endpoints of a pod', () => {
  const rows: readonly (readonly [string, ServiceSpec, Live<Pod>, object | undefined])[] = [
    ['ready', {}, pod(), { ready: true, serving: true, terminating: false }],
    ['not ready', {}, pod({ ready: false }), { ready: false, serving: false, terminating: false }],
    ['ending, still serving', {}, pod({ metadata: leaving }), { ready: false, serving: true, terminating: true }],
    [
      'published whatever it is',
      { publishNotReadyAddresses: true },
      pod({ ready: false, metadata: leaving }),
      { ready: true, serving: false, terminating: true },
    ],
    ['ended', {}, pod({ status: { phase: 'Succeeded' } }), undefined],
    ['without an address', {}, pod({ status: { podIPs: [] } }), undefined],
    ['on no node', {}, pod({ spec: { nodeName: 'gone' } }), undefined],
  ]
  for (const [what, spec, one, expected] of rows) {
    test(what, () => assert.deepEqual(conditionsOf(spec, one), expected))
  }

  test('say where they are, and what they are called', () => {
    const named = pod({ spec: { hostname: 'web-0', subdomain: 'web' } })
    const [group] = computeSliceGroups({ service: service(), pods: [named], nodes })
    const { name, uid } = named.metadata
    assert.deepEqual(group, {
      addressType: 'IPv4',
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
      endpoints: [
        {
          addresses: [named.status?.podIPs?.[0]?.ip],
          conditions: { ready: true, serving: true, terminating: false },
          hostname: 'web-0',
          nodeName: 'n1',
          targetRef: { kind: 'Pod', namespace: 'shop', name, uid },
          zone: 'z1',
        },
      ],
    })
    const other = service({}, { name: 'other' })
    assert.equal(computeSliceGroups({ service: other, pods: [named], nodes })[0]?.endpoints[0]?.hostname, undefined)
  })

  test('hints follow the distribution that is asked for', () => {
    const hints = (spec: ServiceSpec) =>
      computeSliceGroups({ service: service(spec), pods: [pod()], nodes })[0]?.endpoints[0]?.hints
    assert.deepEqual(hints({ trafficDistribution: 'PreferSameNode' }), {
      forZones: [{ name: 'z1' }],
      forNodes: [{ name: 'n1' }],
    })
    assert.deepEqual(hints({ trafficDistribution: 'PreferClose' }), { forZones: [{ name: 'z1' }] })
    assert.equal(hints({}), undefined)
  })
})

describe('ports of endpoints', () => {
  const named = (containerPort: number, protocol = 'TCP') =>
    pod({ spec: { containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort, protocol }] }] } })
  const byName = service({ ports: [{ name: 'web', port: 80, targetPort: 'http', protocol: 'TCP' }] })
  const portsOf = (pods: readonly Live<Pod>[]) =>
    computeSliceGroups({ service: byName, pods, nodes }).map(({ ports }) => ports.map(({ port }) => port))

  test('pods with other numbers are in groups of their own', () =>
    assert.deepEqual(portsOf([named(80), named(8080), named(80)]), [[80], [8080]]))
  test('a name with another protocol is none', () => assert.deepEqual(portsOf([named(80, 'UDP')]), [[]]))
  test('sidecars have ports too', () => {
    const sidecar = { name: 's', image: 'i', restartPolicy: 'Always', ports: [{ name: 'http', containerPort: 9 }] }
    assert.deepEqual(portsOf([pod({ spec: { initContainers: [sidecar] } })]), [[9]])
  })
  test('both families have groups, also without pods', () => {
    const dual = service({ ipFamilies: ['IPv4', 'IPv6'] })
    const types = (pods: readonly Live<Pod>[]) =>
      computeSliceGroups({ service: dual, pods, nodes }).map(({ addressType, endpoints }) => [
        addressType,
        endpoints.length,
      ])
    assert.deepEqual(types([pod()]), [
      ['IPv4', 1],
      ['IPv6', 1],
    ])
    assert.deepEqual(types([]), [
      ['IPv4', 0],
      ['IPv6', 0],
    ])
  })
})

const frame = {
  baseName: 'web',
  namespace: 'shop',
  owner: { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'u-web', controller: true },
  labels: { 'kubernetes.io/service-name': 'web' },
}

/** As the API would store them. */
function stored(slices: readonly EndpointSlice[]): readonly Live<EndpointSlice>[] {
  return slices.map((slice, index) => {
    const { generateName: _, ...metadata } = slice.metadata ?? {}
    return {
      ...slice,
      metadata: { ...metadata, name: `web-${index}`, namespace: 'shop', uid: `s${index}`, resourceVersion: '1' },
    }
  })
}

describe('the plan for slices', () => {
  const groupsOf = (pods: readonly Live<Pod>[]) => computeSliceGroups({ service: service(), pods, nodes })
  const sizes = (slices: readonly EndpointSlice[]) => slices.map(({ endpoints = [] }) => endpoints.length)
  const many = Array.from({ length: 250 }, () =>
    pod({ status: { podIPs: [{ ip: `10.2.${Math.floor(count / 250)}.${count % 250}` }] } }),
  )

  test('no slice has more than 100, and what is as it should be is not written', () => {
    const plan = computeSlicePlan(frame, [], groupsOf(many))
    assert.deepEqual(sizes(plan.create), [100, 100, 50])
    const next = computeSlicePlan(frame, stored(plan.create), groupsOf(many))
    assert.deepEqual(next, { create: [], update: [], remove: [] })
  })

  test('removed endpoints move no others', () => {
    const present = stored(computeSlicePlan(frame, [], groupsOf(many)).create)
    const plan = computeSlicePlan(frame, present, groupsOf(many.slice(0, 60)))
    assert.deepEqual([sizes(plan.create), sizes(plan.update), plan.remove.length], [[], [60, 0, 0], 0])
  })

  test('a new endpoint takes the free place of one slice', () => {
    const present = stored(computeSlicePlan(frame, [], groupsOf(many)).create)
    const plan = computeSlicePlan(frame, present, groupsOf([...many, pod()]))
    assert.deepEqual([sizes(plan.create), sizes(plan.update), plan.remove.length], [[], [51], 0])
  })

  test('without pods one empty slice is left, and stays', () => {
    const plan = computeSlicePlan(frame, [], groupsOf([]))
    assert.deepEqual(sizes(plan.create), [0])
    assert.deepEqual(plan.create[0]?.ports, [])
    assert.deepEqual(computeSlicePlan(frame, stored(plan.create), groupsOf([])), { create: [], update: [], remove: [] })
    const filled = computeSlicePlan(frame, stored(plan.create), groupsOf([pod()]))
    assert.deepEqual([filled.create.length, sizes(filled.update), filled.remove.length], [0, [1], 0])
  })

  test('slices of an earlier service of that name go', () => {
    const present = stored(
      computeSlicePlan({ ...frame, owner: { ...frame.owner, uid: 'old' } }, [], groupsOf([])).create,
    )
    const plan = computeSlicePlan(frame, present, groupsOf([]))
    assert.deepEqual([plan.create.length, plan.update.length, plan.remove.length], [1, 0, 1])
  })

  test('labels of the service that mean something else on slices are not', () => {
    const labels = { tier: 'a', 'kubernetes.io/service-name': 'other', 'service.kubernetes.io/headless': '' }
    assert.deepEqual(withoutReserved(labels), { tier: 'a' })
  })

  test('labels of the service are followed', () => {
    const present = stored(computeSlicePlan(frame, [], groupsOf(many.slice(0, 1))).create)
    const plan = computeSlicePlan(
      { ...frame, labels: { ...frame.labels, tier: 'a' } },
      present,
      groupsOf(many.slice(0, 1)),
    )
    assert.deepEqual(plan.update[0]?.metadata.labels, { 'kubernetes.io/service-name': 'web', tier: 'a' })
  })
})

describe('Endpoints', () => {
  test('have ready ones, others, and none that end', () => {
    const [a, b, c] = [pod(), pod({ ready: false }), pod({ metadata: leaving })]
    const { metadata, subsets } = computeEndpoints({
      service: service({ clusterIP: 'None' }, { labels: { app: 'x' } }),
      pods: [a, b, c],
      nodes,
    })
    assert.deepEqual(metadata?.labels, {
      app: 'x',
      'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
      'service.kubernetes.io/headless': '',
    })
    assert.deepEqual(
      subsets?.map(({ addresses = [], notReadyAddresses = [], ports }) => [
        addresses.length,
        notReadyAddresses.length,
        ports,
      ]),
      [[1, 1, [{ port: 8080, protocol: 'TCP' }]]],
    )
  })

  test('are cut at 1000, ready ones first', () => {
    const pods = Array.from({ length: 1100 }, (_, index) =>
      pod({ ready: index >= 50, status: { podIPs: [{ ip: `10.${index >> 8}.1.${index & 255}` }] } }),
    )
    const { metadata, subsets } = computeEndpoints({ service: service(), pods, nodes })
    assert.deepEqual([subsets?.[0]?.addresses?.length, subsets?.[0]?.notReadyAddresses], [1000, undefined])
    assert.deepEqual(metadata?.annotations, { 'endpoints.kubernetes.io/over-capacity': 'truncated' })
  })

  test('written by hand become groups by family', () => {
    const ports = [{ name: 'x', port: 5 }]
    const addresses = [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }, { ip: 'none' }]
    const { groups, invalid } = computeMirroredGroups({
      subsets: [{ addresses, notReadyAddresses: [{ ip: '10.0.0.2' }], ports }],
    })
    assert.deepEqual(
      groups.map(({ addressType, endpoints }) => [addressType, endpoints.map(({ conditions }) => conditions?.ready)]),
      [
        ['IPv4', [true, false]],
        ['IPv6', [true]],
      ],
    )
    assert.deepEqual(invalid, ['none'])
  })
})
