import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadSettings } from '../../../test/fakes/load-settings.ts'
import { checkStart } from './check-start.ts'

const given = await loadSettings([])

describe('checkStart()', () => {
  test('refuses a bootstrap that has no place for its result', async () => {
    const settings = await loadSettings(['--bootstrap-kubeconfig=/k'])
    assert.throws(() => checkStart(settings, { swapBytes: 0n }), /^Error: Cannot bootstrap: .* needs --kubeconfig/)
    checkStart(await loadSettings(['--bootstrap-kubeconfig=/k', '--kubeconfig=/l']), { swapBytes: 0n })
  })

  test('refuses swap unless the configuration allows it', async () => {
    assert.throws(() => {
      checkStart({ ...given, config: { ...given.config, failSwapOn: true } }, { swapBytes: 1n })
    }, /Cannot run with swap/)
    checkStart({ ...given, config: { ...given.config, failSwapOn: false } }, { swapBytes: 1n })
    checkStart(given, { swapBytes: 0n })
  })
})
