import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadFields, loadSettings } from '../../../test/fakes/load-settings.ts'

test('settings name the fields that were set and have no effect yet', async () => {
  const { notYetHonoured } = await loadFields({
    volumePluginDir: '/elsewhere',
    evictionHard: { 'memory.available': '1%' },
    syncFrequency: '2m',
  })
  assert.deepEqual(notYetHonoured, ['volumePluginDir'])
})

test('settings name nothing where nothing was set', async () => {
  assert.deepEqual((await loadFields({})).notYetHonoured, [])
  assert.deepEqual((await loadSettings(['--maximum-dead-containers=3', '--vmodule=x=4'])).notYetHonoured, [])
})
