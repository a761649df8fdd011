import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadSettings } from '../../../test/fakes/load-settings.ts'
import { checkMachine } from './check-machine.ts'

const given = await loadSettings([])

describe('checkMachine()', () => {
  test('refuses a bootstrap that has no place for its result', async () => {
    const settings = await loadSettings(['--bootstrap-kubeconfig=/k'])
    assert.throws(() => checkMachine(settings, { swapBytes: 0n }), /^Error: Cannot bootstrap: .* needs --kubeconfig/)
    checkMachine(await loadSettings(['--bootstrap-kubeconfig=/k', '--kubeconfig=/l']), { swapBytes: 0n })
  })

  test('refuses swap unless the configuration allows it', async () => {
    assert.throws(() => {
      checkMachine({ ...given, config: { ...given.config, failSwapOn: true } }, { swapBytes: 1n })
    }, /Cannot run with swap/)
    checkMachine({ ...given, config: { ...given.config, failSwapOn: false } }, { swapBytes: 1n })
    checkMachine(given, { swapBytes: 0n })
  })
})
