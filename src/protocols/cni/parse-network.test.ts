import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { listConfigurations, parseKeptNetwork, parseNetworkFile } from './parse-network.ts'

const list = JSON.stringify({
  cniVersion: '1.0.0',
  name: 'pods',
  disableCheck: 'true',
  plugins: [
    { type: 'bridge', bridge: 'cni0', name: 'other' },
    { type: 'portmap', capabilities: { portMappings: true, ipRanges: false } },
  ],
})
const one = JSON.stringify({ name: 'flat', type: 'ptp', ipam: { type: 'host-local' } })

describe('parseNetworkFile()', () => {
  test('reads a list of plugins', () => {
    const { name, version, disableCheck, plugins } = parseNetworkFile('10-pods.conflist', list)
    assert.deepEqual([name, version, disableCheck], ['pods', '1.0.0', true])
    assert.deepEqual(plugins, [
      { type: 'bridge', capabilities: [], settings: { type: 'bridge', bridge: 'cni0' } },
      { type: 'portmap', capabilities: ['portMappings'], settings: { type: 'portmap' } },
    ])
  })

  test('reads one plugin alone, of the oldest version where none is named', () => {
    const { name, version, plugins } = parseNetworkFile('20-flat.conf', one)
    assert.deepEqual([name, version, plugins.map(({ type }) => type)], ['flat', '0.1.0', ['ptp']])
  })

  const broken: readonly (readonly [name: string, text: string, problem: RegExp])[] = [
    ['a.conf', '{', /Cannot use CNI configuration "a.conf": /],
    ['a.conf', '[]', /expected an object/],
    ['a.conf', list, /a file with "plugins" is expected to be named .conflist/],
    ['a.conflist', JSON.stringify({ name: 'x', plugins: [] }), /expected "plugins", at least one/],
    ['a.conflist', JSON.stringify({ name: '../x', plugins: [{ type: 'a' }] }), /expected a "name"/],
    ['a.conflist', JSON.stringify({ name: 'x', plugins: [{ type: '/bin/sh' }] }), /expected the name of a program/],
    ['a.conflist', JSON.stringify({ name: 'x', cniVersion: 1, plugins: [{ type: 'a' }] }), /text as "cniVersion"/],
  ]
  for (const [name, text, problem] of broken) {
    test(`refuses ${text.slice(0, 60)} in ${name}`, () => assert.throws(() => parseNetworkFile(name, text), problem))
  }
})

test('parseKeptNetwork() reads both forms, whatever their file was called', () => {
  assert.deepEqual([parseKeptNetwork(list).name, parseKeptNetwork(one).name], ['pods', 'flat'])
})

test('listConfigurations() has the files that may be meant, in order', () => {
  assert.deepEqual(listConfigurations(['b.json', 'a.conflist', '.hidden', 'c.conf', 'a.conf~', 'README']), [
    'a.conflist',
    'b.json',
    'c.conf',
  ])
})
