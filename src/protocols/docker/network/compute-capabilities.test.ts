import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Protocol } from '../../cri/generated/runtime-v1.ts'
import { computeCapabilities } from './compute-capabilities.ts'

const none = { portMappings: [], annotations: {} }

describe('computeCapabilities()', () => {
  test('has the ports of the node that a pod asks for', () => {
    const portMappings = [
      { hostPort: 8080, containerPort: 80, protocol: Protocol.TCP, hostIp: '' },
      { hostPort: 53, containerPort: 53, protocol: Protocol.UDP, hostIp: '10.0.0.1' },
      { hostPort: 0, containerPort: 9, protocol: Protocol.TCP, hostIp: '' },
    ]
    assert.deepEqual(computeCapabilities({ ...none, portMappings }, ''), {
      portMappings: [
        { hostPort: 8080, containerPort: 80, protocol: 'tcp', hostIP: '' },
        { hostPort: 53, containerPort: 53, protocol: 'udp', hostIP: '10.0.0.1' },
      ],
    })
  })

  test('has the bandwidth of the annotations, and refuses what makes no sense', () => {
    const annotations = { 'kubernetes.io/ingress-bandwidth': '10M', 'kubernetes.io/egress-bandwidth': '1G' }
    assert.deepEqual(computeCapabilities({ ...none, annotations }, '')['bandwidth'], {
      ingressRate: 10_000_000,
      ingressBurst: 2_147_483_647,
      egressRate: 1_000_000_000,
      egressBurst: 2_147_483_647,
    })
    const small = { 'kubernetes.io/ingress-bandwidth': '1' }
    assert.throws(() => computeCapabilities({ ...none, annotations: small }, ''), /unreasonably small/)
    const large = { 'kubernetes.io/egress-bandwidth': '10P' }
    assert.throws(() => computeCapabilities({ ...none, annotations: large }, ''), /unreasonably large/)
    assert.throws(
      () => computeCapabilities({ ...none, annotations: { 'kubernetes.io/egress-bandwidth': 'x' } }, ''),
      /Cannot read quantity/,
    )
  })

  test('has the addresses of pods of this node, of both families', () => {
    assert.deepEqual(computeCapabilities(none, '10.1.0.0/24,fd00::/64')['ipRanges'], [
      [{ subnet: '10.1.0.0/24' }],
      [{ subnet: 'fd00::/64' }],
    ])
  })
})
