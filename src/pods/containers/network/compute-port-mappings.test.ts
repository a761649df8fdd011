import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { Protocol } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { PortMapping } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { ContainerPort, PodSpec } from '../../../model/generated/core-v1.ts'
import { computePortMappings } from './compute-port-mappings.ts'

const web: PortMapping = { protocol: Protocol.TCP, containerPort: 80, hostPort: 0, hostIp: '' }

const rows: readonly {
  readonly name: string
  readonly ports?: readonly ContainerPort[]
  readonly spec?: Partial<PodSpec>
  readonly expected: readonly PortMapping[]
}[] = [
  { name: 'no ports', expected: [] },
  { name: 'a port without one on the node', ports: [{ containerPort: 80 }], expected: [web] },
  {
    name: 'everything set',
    ports: [{ name: 'dns', containerPort: 53, hostPort: 5353, hostIP: '192.0.2.1', protocol: 'UDP' }],
    expected: [{ protocol: Protocol.UDP, containerPort: 53, hostPort: 5353, hostIp: '192.0.2.1' }],
  },
  {
    name: 'protocols; an unknown one is TCP',
    ports: [
      { containerPort: 80, protocol: 'SCTP' },
      { containerPort: 80, protocol: 'QUIC' },
    ],
    expected: [{ ...web, protocol: Protocol.SCTP }, web],
  },
  {
    name: 'a name counts once in a container',
    ports: [
      { name: 'a', containerPort: 80 },
      { name: 'a', containerPort: 81 },
    ],
    expected: [web],
  },
  {
    name: 'without names, the same port counts once, another address is another port',
    ports: [{ containerPort: 80 }, { containerPort: 80 }, { containerPort: 80, hostIP: '::1', hostPort: 8080 }],
    expected: [web, { ...web, hostIp: '::1', hostPort: 8080 }],
  },
  {
    name: 'only regular containers count, each for itself',
    spec: {
      containers: [
        createContainer({ ports: [{ name: 'a', containerPort: 80 }] }),
        createContainer({ ports: [{ name: 'a', containerPort: 80 }] }),
      ],
      initContainers: [createContainer({ ports: [{ containerPort: 81 }], restartPolicy: 'Always' })],
      ephemeralContainers: [{ name: 'look', ports: [{ containerPort: 82 }] }],
    },
    expected: [web, web],
  },
]

describe('computePortMappings()', () => {
  for (const { name, ports, spec = { containers: [createContainer({ ports })] }, expected } of rows) {
    test(name, () => assert.deepEqual(computePortMappings(createPod({ spec })), expected))
  }
})
