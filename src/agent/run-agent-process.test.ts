import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadSettings } from '../../test/fakes/load-settings.ts'
import { checkMachine, parseWatchdog } from './run-agent-process.ts'

describe('parseWatchdog()', () => {
  const rows: readonly (readonly [text: string | undefined, ms: number | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['30000000', 30_000],
    ['1000001', 1000.001],
  ]
  for (const [text, ms] of rows) {
    test(`takes ${text ?? 'nothing'} as ${ms ?? 'no watchdog'}`, () => {
      assert.equal(parseWatchdog({ WATCHDOG_USEC: text }), ms)
    })
  }

  for (const text of ['0', '1000000', '-1', '1.5', '30s', 'NaN']) {
    test(`refuses ${text}`, () => {
      assert.throws(() => parseWatchdog({ WATCHDOG_USEC: text }), /^Error: Cannot use WATCHDOG_USEC=/)
    })
  }
})

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
