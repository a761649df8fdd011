import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { ContainerPort } from '../generated/core-v1.ts'
import { computePortConflict } from './compute-port-conflict.ts'

type Port = Omit<ContainerPort, 'containerPort'>

const withPort = (port: Port) =>
  createPod({ spec: { containers: [createContainer({ ports: [{ containerPort: 80, ...port }] })] } })

describe('computePortConflict()', () => {
  const rows: readonly (readonly [Port, Port, boolean])[] = [
    [{}, {}, false],
    [{ hostPort: 80 }, {}, false],
    [{ hostPort: 80 }, { hostPort: 80 }, true],
    [{ hostPort: 80 }, { hostPort: 81 }, false],
    [{ hostPort: 80, protocol: 'UDP' }, { hostPort: 80 }, false],
    [{ hostPort: 80, protocol: 'TCP' }, { hostPort: 80, protocol: '' }, true],
    [{ hostPort: 80, hostIP: '127.0.0.1' }, { hostPort: 80 }, true],
    [{ hostPort: 80, hostIP: '0.0.0.0' }, { hostPort: 80, hostIP: '127.0.0.1' }, true],
    [{ hostPort: 80, hostIP: '127.0.0.1' }, { hostPort: 80, hostIP: '127.0.0.1' }, true],
    [{ hostPort: 80, hostIP: '127.0.0.2' }, { hostPort: 80, hostIP: '127.0.0.1' }, false],
    [{ hostPort: 0 }, { hostPort: 0 }, false],
  ]
  for (const [port, other, expected] of rows) {
    test(`${JSON.stringify(port)} beside ${JSON.stringify(other)}: ${expected ? 'clash' : 'fine'}`, () => {
      assert.equal(computePortConflict(withPort(port), [withPort(other)]), expected)
    })
  }

  test('counts sidecars, not init containers that end', () => {
    const ports = [{ containerPort: 80, hostPort: 80 }]
    const initiating = (parts: object) =>
      createPod({ spec: { initContainers: [createContainer({ name: 'first', ports, ...parts })] } })
    const taken = [withPort({ hostPort: 80 })]
    assert.deepEqual(
      [{}, { restartPolicy: 'Always' }].map((parts) => computePortConflict(initiating(parts), taken)),
      [false, true],
    )
  })
})
