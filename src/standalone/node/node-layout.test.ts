import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAgentConfig } from './agent/agent-config.ts'
import { computeNodeLayout, computeRanges } from './node-layout.ts'

describe('computeNodeLayout()', () => {
  test('has plain names for the default folder', () => {
    const { cgroupRoot, bridge, subnet, manifests } = computeNodeLayout('/var/lib/deckhand')
    assert.deepEqual(
      { cgroupRoot, bridge, subnet, manifests },
      {
        cgroupRoot: '/deckhand',
        bridge: 'deckhand0',
        subnet: '10.123.0.0/16',
        manifests: '/var/lib/deckhand/manifests',
      },
    )
  })

  test('has names of its own for every other folder', () => {
    const [a, b] = [computeNodeLayout('/a'), computeNodeLayout('/b')]
    assert.deepEqual(computeNodeLayout('/a'), a)
    assert.match(a.cgroupRoot, /^\/deckhand-[0-9a-f]{6}$/)
    assert.notEqual(a.cgroupRoot, b.cgroupRoot)
    assert.notEqual(a.bridge, b.bridge)
    assert.ok(a.bridge.length <= 15)
    assert.notEqual(a.subnet6, b.subnet6)
  })

  test('has ranges of each family that the node has', () => {
    const layout = computeNodeLayout('/var/lib/deckhand')
    assert.deepEqual(computeRanges(layout, false), { serviceRanges: ['10.124.0.0/16'], podRanges: ['10.123.0.0/16'] })
    assert.deepEqual(computeRanges(layout, true), {
      serviceRanges: ['10.124.0.0/16', 'fd64:6563:6b68:2::/112'],
      podRanges: ['10.123.0.0/16', 'fd64:6563:6b68:1::/64'],
    })
  })
})

describe('createAgentConfig()', () => {
  const layout = computeNodeLayout('/a')
  const ports = { kubernetes: 4, agent: 1, healthz: 3 }

  test('is closed: loopback only, no anonymous callers', () => {
    const config = JSON.parse(createAgentConfig(layout, { nodeName: 'n', cgroupRoot: '/c', manifests: '/m', ports }))
    assert.equal(config.address, '127.0.0.1')
    assert.equal(config.healthzBindAddress, '127.0.0.1')
    assert.equal(config.authentication.anonymous.enabled, false)
    assert.deepEqual([config.port, config.readOnlyPort, config.healthzPort], [1, 0, 3])
    assert.deepEqual([config.cgroupRoot, config.staticPodPath], ['/c', '/m'])
    assert.equal(config.containerRuntimeEndpoint, 'unix:///a/containerd/containerd.sock')
  })

  test('uses the runtime that the user named', () => {
    const record = { nodeName: 'n', cgroupRoot: '/c', manifests: '/m', ports, runtime: 'unix:///run/own.sock' }
    assert.equal(JSON.parse(createAgentConfig(layout, record)).containerRuntimeEndpoint, 'unix:///run/own.sock')
  })
})
