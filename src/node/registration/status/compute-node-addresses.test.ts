import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeNodeAddresses } from './compute-node-addresses.ts'

const HOSTNAME = { type: 'Hostname', address: 'node-1' }
const internal = (address: string) => ({ type: 'InternalIP', address })
const cloud = [{ type: 'ExternalIP', address: '203.0.113.1' }]
const PROVIDED = 'alpha.kubernetes.io/provided-node-ip'

describe('computeNodeAddresses()', () => {
  const cases: readonly {
    readonly name: string
    readonly nodeIps?: readonly string[]
    readonly externalCloud?: boolean
    readonly found?: string
    readonly before?: readonly { readonly type: string; readonly address: string }[]
    readonly annotations?: Readonly<Record<string, string>>
    readonly expected: unknown
  }[] = [
    {
      name: 'the one that was found',
      found: '192.0.2.1',
      annotations: { mine: '1', [PROVIDED]: '192.0.2.9' },
      expected: { addresses: [internal('192.0.2.1'), HOSTNAME], annotations: { mine: '1' } },
    },
    {
      name: 'the one that was asked for',
      nodeIps: ['192.0.2.2'],
      before: cloud,
      expected: { addresses: [internal('192.0.2.2'), HOSTNAME], annotations: {} },
    },
    {
      name: 'the two that were asked for',
      nodeIps: ['192.0.2.2', '2001:db8::1'],
      expected: { addresses: [internal('192.0.2.2'), internal('2001:db8::1'), HOSTNAME], annotations: {} },
    },
    {
      name: 'only a family was asked for',
      nodeIps: ['::'],
      found: '2001:db8::1',
      expected: { addresses: [internal('2001:db8::1'), HOSTNAME], annotations: {} },
    },
    {
      name: 'only the name of a node that is on no network',
      expected: { addresses: [HOSTNAME], annotations: {} },
    },
    {
      name: 'only the name still',
      before: [HOSTNAME],
      expected: { addresses: [HOSTNAME], annotations: {} },
    },
    {
      name: 'none any more',
      before: [internal('192.0.2.1'), HOSTNAME],
      expected: 'Cannot find the address of node "node-1": expected one that is not only local',
    },
    {
      name: 'in a cloud: the cloud says',
      externalCloud: true,
      nodeIps: ['192.0.2.2', '2001:db8::1'],
      before: cloud,
      expected: { addresses: cloud, annotations: { [PROVIDED]: '192.0.2.2,2001:db8::1' } },
    },
    {
      name: 'in a cloud: for a start what was asked for',
      externalCloud: true,
      nodeIps: ['192.0.2.2'],
      expected: { addresses: [internal('192.0.2.2'), HOSTNAME], annotations: { [PROVIDED]: '192.0.2.2' } },
    },
    {
      name: 'in a cloud: only the name without an address asked for',
      externalCloud: true,
      found: '192.0.2.1',
      expected: { addresses: [HOSTNAME], annotations: {} },
    },
    {
      name: 'in a cloud: only a family was asked for',
      externalCloud: true,
      nodeIps: ['0.0.0.0'],
      found: '192.0.2.1',
      expected: { addresses: [internal('192.0.2.1'), HOSTNAME], annotations: {} },
    },
  ]
  for (const { name, nodeIps = [], externalCloud = false, found, before = [], annotations = {}, expected } of cases) {
    test(name, () => {
      const profile = { nodeName: 'node-1', nodeIps, externalCloud }
      assert.deepEqual(
        computeNodeAddresses({ addresses: before, annotations }, profile, { fault: undefined, found }),
        expected,
      )
    })
  }

  test('says what is wrong with what was asked for', () => {
    const profile = { nodeName: 'node-1', nodeIps: ['127.0.0.1'], externalCloud: false }
    const info = { fault: 'loopback', found: undefined }
    assert.equal(computeNodeAddresses({ addresses: cloud, annotations: {} }, profile, info), 'loopback')
  })
})
