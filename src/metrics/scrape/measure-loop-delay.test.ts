import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import process from 'node:process'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { measureLoopDelay } from './measure-loop-delay.ts'

const MODULE = new URL('measure-loop-delay.ts', import.meta.url).href
// Nothing else happens in this program, so that each wakeup is one of the measurement.
const IDLE = `
import { measureLoopDelay } from ${JSON.stringify(MODULE)}
import { setTimeout } from 'node:timers/promises'
measureLoopDelay()
await setTimeout(500)
const before = process.resourceUsage().voluntaryContextSwitches
await setTimeout(2000)
console.log(process.resourceUsage().voluntaryContextSwitches - before)
`

describe('measureLoopDelay()', () => {
  test('does not wake a process that has nothing to do', () => {
    const args = ['--input-type=module', '--eval', IDLE]
    const switches = Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))
    assert.ok(switches <= 8, `${switches} in two seconds`)
  })

  test('sees that the event loop was kept waiting', async () => {
    const delay = measureLoopDelay()
    assert.equal(delay.percentile(100), 0)
    await sleep(10)
    const until = performance.now() + 100
    while (performance.now() < until);
    await sleep(10)
    await sleep(10)
    assert.ok(delay.percentile(100) >= 0.1, String(delay.percentile(100)))
  })
})
