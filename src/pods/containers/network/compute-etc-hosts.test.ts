import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodSpec } from '../../../model/generated/core-v1.ts'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { computeEtcHosts, wantsEtcHosts } from './compute-etc-hosts.ts'

const LOCAL = `# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
`
const hostAliases = [{ ip: '10.0.0.9', hostnames: ['db', 'db.test'] }, { ip: '10.0.0.8' }]
const ALIASES = `
# Entries added by HostAliases.
10.0.0.9\tdb\tdb.test
10.0.0.8
`

const rows: readonly {
  readonly name: string
  readonly spec?: Partial<PodSpec>
  readonly podIps: readonly string[]
  readonly domain?: string
  readonly expected: string
}[] = [
  { name: 'one address', podIps: ['10.1.0.2'], expected: `${LOCAL}10.1.0.2\tweb\n` },
  {
    name: 'two addresses and a domain',
    podIps: ['10.1.0.2', 'fd00::2'],
    domain: 'sub.shop.svc.c.test',
    expected: `${LOCAL}10.1.0.2\tweb.sub.shop.svc.c.test\tweb\nfd00::2\tweb.sub.shop.svc.c.test\tweb\n`,
  },
  { name: 'aliases', spec: { hostAliases }, podIps: ['10.1.0.2'], expected: `${LOCAL}10.1.0.2\tweb\n${ALIASES}` },
  {
    name: 'the network of the node',
    spec: { hostNetwork: true },
    podIps: [],
    expected: '# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost node\n',
  },
  {
    name: 'the network of the node with aliases',
    spec: { hostNetwork: true, hostAliases },
    podIps: [],
    expected: `# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost node\n${ALIASES}`,
  },
]

describe('computeEtcHosts()', () => {
  for (const { name, spec = {}, podIps, domain = '', expected } of rows) {
    test(name, () => {
      const nodeEtcHosts = '127.0.0.1 localhost node\n'
      const hostname = { short: 'web', domain }
      assert.equal(computeEtcHosts({ pod: createPod({ spec }), podIps, hostname, nodeEtcHosts }), expected)
    })
  }
})

test('wantsEtcHosts() spares mounts of the container and waits for an address', () => {
  const own = [{ containerPath: '/etc/hosts' }]
  const other = [{ containerPath: '/etc/hosts.d' }]
  const node = createPod({ spec: { hostNetwork: true } })
  assert.deepEqual(
    [
      wantsEtcHosts(createPod(), [], ['10.1.0.2']),
      wantsEtcHosts(createPod(), other, ['10.1.0.2']),
      wantsEtcHosts(createPod(), own, ['10.1.0.2']),
      wantsEtcHosts(createPod(), [], []),
      wantsEtcHosts(node, [], []),
      wantsEtcHosts(node, own, []),
    ],
    [true, true, false, false, true, false],
  )
})
