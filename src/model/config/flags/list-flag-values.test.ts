import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadFields } from '../../../../test/fakes/load-settings.ts'
import { listFlagValues } from './list-flag-values.ts'

test('listFlagValues() has every flag with the value in force, in order', async () => {
  const settings = await loadFields({
    clusterDNS: ['10.0.0.10', '10.0.0.11'],
    syncFrequency: '2m',
    featureGates: { SidecarContainers: true },
    evictionHard: { 'memory.available': '200Mi' },
  })
  const values = listFlagValues(settings)
  const names = Object.keys(values)
  assert.deepEqual(names, [...names].sort())
  assert.ok(names.length > 100)
  const { kubeconfig, 'cluster-dns': dns, 'sync-frequency': frequency, 'anonymous-auth': anonymous, v } = values
  assert.deepEqual(
    { kubeconfig, dns, frequency, anonymous, v, hard: values['eviction-hard'] },
    {
      kubeconfig: '/kubeconfig',
      dns: '[10.0.0.10,10.0.0.11]',
      frequency: '2m0s',
      anonymous: 'false',
      v: '0',
      hard: 'memory.available=200Mi',
    },
  )
})
