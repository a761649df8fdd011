import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computePluginCall, knowsResults } from './compute-plugin-call.ts'
import { parseNetworkFile } from './parse-network.ts'

const network = parseNetworkFile(
  'a.conflist',
  JSON.stringify({
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [{ type: 'bridge' }, { type: 'portmap', capabilities: { portMappings: true, bandwidth: true } }],
  }),
)
const attachment = {
  containerId: 'abc',
  namespace: '/proc/7/ns/net',
  device: 'eth0',
  args: [
    ['IgnoreUnknown', '1'],
    ['K8S_POD_NAME', 'web'],
  ] as const,
  capabilities: { portMappings: [{ hostPort: 80 }] },
}
const settings = { programs: ['/a', '/b'], mtu: 0 }
const [bridge, portmap] = network.plugins
const call = (plugin = bridge, previous?: unknown, own = settings) => {
  assert.ok(plugin)
  const { environment, stdin } = computePluginCall('ADD', { network, plugin, previous }, attachment, own)
  return { environment, configuration: JSON.parse(stdin) as unknown }
}

describe('computePluginCall()', () => {
  test('says in the environment what is done to whom', () => {
    assert.deepEqual(call().environment, {
      CNI_COMMAND: 'ADD',
      CNI_CONTAINERID: 'abc',
      CNI_NETNS: '/proc/7/ns/net',
      CNI_IFNAME: 'eth0',
      CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAME=web',
      CNI_PATH: '/a:/b',
    })
  })

  test('gives a plugin its settings with name and version of the network', () => {
    assert.deepEqual(call().configuration, { type: 'bridge', name: 'pods', cniVersion: '0.4.0' })
  })

  test('gives a plugin what it asks for, as far as there is some, and what was done before it', () => {
    assert.deepEqual(call(portmap, { ips: [] }).configuration, {
      type: 'portmap',
      name: 'pods',
      cniVersion: '0.4.0',
      runtimeConfig: { portMappings: [{ hostPort: 80 }] },
      prevResult: { ips: [] },
    })
  })

  test('gives the MTU to the first plugin alone, and not over its own', () => {
    const own = { ...settings, mtu: 1400 }
    assert.equal((call(bridge, undefined, own).configuration as { mtu?: number }).mtu, 1400)
    assert.equal((call(portmap, undefined, own).configuration as { mtu?: number }).mtu, undefined)
    const named = { type: 'bridge', capabilities: [], settings: { type: 'bridge', mtu: 9000 } }
    const { stdin } = computePluginCall(
      'ADD',
      { network: { ...network, plugins: [named] }, plugin: named, previous: undefined },
      attachment,
      own,
    )
    assert.equal((JSON.parse(stdin) as { mtu: number }).mtu, 9000)
  })
})

test('knowsResults() from version 0.4.0 on', () => {
  const versions = ['0.1.0', '0.2.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0']
  assert.deepEqual(versions.map(knowsResults), [false, false, false, true, true, true])
})
