import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadFields, loadSettings } from '../../test/fakes/load-settings.ts'

test('settings name the fields that were set and have no effect yet', async () => {
  const { notYetHonoured } = await loadFields({
    podPidsLimit: 50,
    evictionHard: { 'memory.available': '1%' },
    syncFrequency: '2m',
  })
  assert.deepEqual(notYetHonoured, ['podPidsLimit'])
})

test('settings name nothing where nothing was set', async () => {
  assert.deepEqual((await loadFields({})).notYetHonoured, [])
  assert.deepEqual((await loadSettings([])).notYetHonoured, [])
})

test('settings name the flags that were given and have no effect yet', async () => {
  const { notYetHonoured } = await loadSettings([
    '--maximum-dead-containers=3',
    '--minimum-container-ttl-duration=3s',
    '--vmodule=x=4',
  ])
  assert.deepEqual(notYetHonoured, ['--minimum-container-ttl-duration', '--maximum-dead-containers'])
})
