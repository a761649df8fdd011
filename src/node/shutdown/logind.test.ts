import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { Logind } from './logind.ts'
import type { LogindDeps } from './logind.ts'

const never = new AbortController().signal
const SECOND_US = 1_000_000n

/** A logind that needs so long to read its configuration again. */
function setUp(reloadMs: number) {
  const clock = new FakeClock()
  const startedAt = clock.now()
  const written: string[] = []
  const bus = {
    call: async ({ member }: { member: string }) => {
      if (member !== 'Get') return []
      const delay = clock.now() - startedAt >= reloadMs ? 240n : 5n
      return [{ signature: 't', value: delay * SECOND_US }]
    },
    onSignal: async () => {},
  } as unknown as LogindDeps['bus']
  const writeDelayFile = async (text: string) => void written.push(text)
  return { clock, written, logind: new Logind({ bus, clock, writeDelayFile }) }
}

describe('Logind.ensureDelay()', () => {
  test('waits for a logind that is slow, as at boot', async () => {
    const { clock, written, logind } = setUp(15_000)
    const ensured = logind.ensureDelay(240, never)
    ensured.catch(() => {})
    await clock.advance(30_000)
    await ensured
    assert.match(written.join(''), /InhibitDelayMaxSec=240/)
  })

  test('writes nothing where the delay is long enough', async () => {
    const { written, logind } = setUp(0)
    await logind.ensureDelay(240, never)
    assert.deepEqual(written, [])
  })

  test('says what logind allows where another file has the last word', async () => {
    const { clock, logind } = setUp(Infinity)
    const ensured = logind.ensureDelay(240, never)
    ensured.catch(() => {})
    await clock.advance(60_000)
    await assert.rejects(ensured, /Cannot delay shutdowns for 240 s: .* still allows 5 s/)
  })
})
