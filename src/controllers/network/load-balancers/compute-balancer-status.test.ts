import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Node, Service, ServiceSpec } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeBalancers } from './compute-balancer-status.ts'

const node: Node = {
  status: {
    addresses: [
      { type: 'Hostname', address: 'n1' },
      { type: 'InternalIP', address: '192.0.2.1' },
    ],
  },
}

function balanced(
  name: string,
  port: number,
  spec: ServiceSpec = {},
  creationTimestamp = `2026-01-01T00:00:0${name}Z`,
): Live<Service> {
  const metadata = { name, namespace: 'default', uid: name, resourceVersion: '1', creationTimestamp }
  return { metadata, spec: { type: 'LoadBalancer', ipFamilies: ['IPv4'], ports: [{ port, protocol: 'TCP' }], ...spec } }
}

describe('balancers on one node', () => {
  test('have its address, each port once, the oldest first', () => {
    const decisions = computeBalancers([balanced('2', 80), balanced('1', 80), balanced('3', 443)], node)
    const own = { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }], problem: undefined }
    assert.deepEqual([decisions.get('1'), decisions.get('3')], [own, own])
    assert.match(decisions.get('2')?.problem ?? '', /port 80\/TCP of the node belongs to the service default\/1/)
  })

  test('do not get the ports of the ingress', () => {
    const decisions = computeBalancers([balanced('1', 80), balanced('2', 81)], node, [80, 443])
    assert.match(decisions.get('1')?.problem ?? '', /port 80\/TCP of the node belongs to the ingress/)
    assert.equal(decisions.get('2')?.problem, undefined)
  })

  test('other classes and types are not ours; without an address they wait', () => {
    const others = [balanced('1', 80, { loadBalancerClass: 'a/b' }), balanced('2', 80, { type: 'NodePort' })]
    assert.equal(computeBalancers(others, node).size, 0)
    assert.match(computeBalancers([balanced('1', 80)], undefined).get('1')?.problem ?? '', /no address/)
    assert.deepEqual(computeBalancers([balanced('1', 80, { ipFamilies: ['IPv6'] })], node).get('1')?.ingress, [])
  })
})
