import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

// One thread and nothing but the interpreter: what is allocated depends neither on the machine nor on its load.
const OPTIONS = ['--single-threaded', '--no-opt', '--no-maglev', '--no-sparkplug']
const PROGRAM = fileURLToPath(new URL('measure-allocations.ts', import.meta.url))
const BASELINE = new URL('baseline.json', import.meta.url)
const MOST = 1.1
// A baseline that is far too high would hide what comes later.
const LEAST = 0.75

type Bytes = Readonly<Record<string, number>>

test('no operation allocates more than a tenth above its baseline', { timeout: 300_000 }, () => {
  const measured = JSON.parse(execFileSync(process.execPath, [...OPTIONS, PROGRAM], { encoding: 'utf8' })) as Bytes
  const baseline = JSON.parse(readFileSync(BASELINE, 'utf8')) as Bytes
  const ratios = Object.entries(baseline).map(([name, bytes]) => [name, (measured[name] ?? NaN) / bytes] as const)
  const off = ratios.filter(([, ratio]) => !(ratio <= MOST && ratio >= LEAST))
  const said = off.map(([name, ratio]) => `${name}: ${measured[name]} bytes, ${ratio.toFixed(2)} × its baseline`)
  assert.deepEqual(
    said,
    [],
    `Allocations have changed. If that is right: node ${OPTIONS.join(' ')} test/bench/allocations/measure-allocations.ts > test/bench/allocations/baseline.json`,
  )
  assert.deepEqual(Object.keys(measured), Object.keys(baseline))
})
