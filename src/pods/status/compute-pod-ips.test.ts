import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeHostIps, computePodIps } from './compute-pod-ips.ts'

const V4 = '10.0.0.2'
const V6 = 'fd00::2'
const pod = (...ips: readonly string[]) =>
  ips.length === 0 ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }

interface Row {
  readonly sandbox?: readonly string[]
  readonly node?: readonly string[]
  readonly known?: readonly string[]
  readonly hostNetwork?: true
  readonly expected: readonly string[]
}

const rows: Readonly<Record<string, Row>> = {
  'none yet': { expected: [] },
  'one address': { sandbox: [V4], expected: [V4] },
  'the family of the node first': { sandbox: [V4, V6], node: ['fd00::1'], expected: [V6, V4] },
  'the other family of the node first': { sandbox: [V6, V4], node: ['192.168.0.1'], expected: [V4, V6] },
  'only the family that there is': { sandbox: [V6], node: ['192.168.0.1'], expected: [V6] },
  'one of each family': { sandbox: [V4, '10.0.0.3', V6, 'fd00::3'], expected: [V4, V6] },
  'none when one cannot be read': { sandbox: [V4, 'what'], expected: [] },
  'the new ones replace the known': { sandbox: [V4], known: ['10.0.0.9', V6], expected: [V4] },
  'the known ones stay after the sandbox died': { known: [V4, V6], expected: [V4, V6] },
  'the node in its own network': { hostNetwork: true, sandbox: [V4], node: ['192.168.0.1'], expected: ['192.168.0.1'] },
  'the first known address of the node stays': {
    hostNetwork: true,
    node: ['192.168.0.7'],
    known: ['192.168.0.1'],
    expected: ['192.168.0.1'],
  },
  'a second family of the node is added': {
    hostNetwork: true,
    node: ['192.168.0.1', 'fd00::1'],
    known: ['192.168.0.1'],
    expected: ['192.168.0.1', 'fd00::1'],
  },
}

describe('computePodIps()', () => {
  for (const [name, { sandbox = [], node = [], known = [], hostNetwork = false, expected }] of Object.entries(rows)) {
    test(name, () => {
      const input = { hostNetwork, sandboxIps: sandbox, nodeIps: node, known: pod(...known) }
      assert.deepEqual(computePodIps(input), pod(...expected))
    })
  }

  test('knows the one address of an old status', () => {
    const input = { hostNetwork: false, sandboxIps: [], nodeIps: [], known: { podIP: V4 } }
    assert.deepEqual(computePodIps(input), pod(V4))
  })

  test('writes an address in one way', () => {
    const ways: readonly (readonly [string, string | undefined])[] = [
      ['FD00:0:0:0:0:0:0:2', 'fd00::2'],
      ['2001:0db8:0000:0000:0001:0000:0000:0001', '2001:db8::1:0:0:1'],
      ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
      ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
      ['::', '::'],
      ['0:0:0:0:0:0:0:1', '::1'],
      ['1::', '1::'],
      ['64:ff9b::10.0.0.1', '64:ff9b::a00:1'],
      ['255.255.255.255', '255.255.255.255'],
      ['256.0.0.1', undefined],
      ['010.0.0.1', undefined],
      ['1.2.3', undefined],
      ['1:2:3', undefined],
      ['1::2::3', undefined],
      ['1:2:3:4:5:6:7:8::', undefined],
      ['fd00::g', undefined],
      ['fd00::12345', undefined],
      ['', undefined],
    ]
    for (const [text, expected] of ways) {
      const ips = computePodIps({ hostNetwork: false, sandboxIps: [text], nodeIps: [], known: undefined })
      assert.deepEqual([text, ips.podIP], [text, expected])
    }
  })
})

test('computeHostIps() gives the first of the node, and the first of the other family', () => {
  const nodeIps = ['fd00::1', '192.168.0.1', 'fd00::2', '192.168.0.2']
  assert.deepEqual(computeHostIps(nodeIps), { hostIP: 'fd00::1', hostIPs: [{ ip: 'fd00::1' }, { ip: '192.168.0.1' }] })
  assert.deepEqual(computeHostIps([]), {})
})
