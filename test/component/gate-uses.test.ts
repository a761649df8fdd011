import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FEATURE_GATES, LOCKED_GATES } from '../../src/model/config/gates/feature-gate-table.ts'
import type { FeatureGate } from '../../src/model/config/gates/feature-gate-table.ts'
import { GATES_WITHOUT_EFFECT } from '../../src/model/config/gates/gates-without-effect.ts'
import { GATES_OF_OTHERS } from '../fixtures/gate-uses.ts'

const SRC = join(import.meta.dirname, '../../src')
const NAMES = Object.keys(FEATURE_GATES) as readonly FeatureGate[]
const OTHERS = new Map(Object.entries(GATES_OF_OTHERS).flatMap(([why, gates]) => gates.map((gate) => [gate, why])))
// Tables of names, and the product that is not the agent.
const NOT_A_USE = /^(model\/config\/gates|model\/generated|model\/schema\/generated|api-server)\//

/** The gates that sources of the agent name, each with the files. */
function findUses(): ReadonlyMap<string, readonly string[]> {
  const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !NOT_A_USE.test(path))
    .map((path) => ({ path, text: readFileSync(join(SRC, path), 'utf8') }))
  return new Map(
    NAMES.map((gate) => [gate, sources.filter(({ text }) => text.includes(`'${gate}'`)).map(({ path }) => path)]),
  )
}

describe('every feature gate', () => {
  const uses = findUses()
  for (const gate of NAMES) {
    test(gate, () => {
      const files = uses.get(gate) ?? []
      const accounts = [
        ...(files.length > 0 ? [`used by ${files.join(', ')}`] : []),
        ...(GATES_WITHOUT_EFFECT[gate] === undefined ? [] : ['warned about']),
        ...(OTHERS.has(gate) ? [OTHERS.get(gate)] : []),
        // Its value cannot be changed, so that code may ask for it or not.
        ...(LOCKED_GATES.has(gate) && files.length === 0 ? ['locked'] : []),
      ]
      assert.equal(
        accounts.length,
        1,
        `Expected one of: used by code, in GATES_WITHOUT_EFFECT, in test/fixtures/gate-uses.ts, locked; found: ${accounts.join('; ') || 'none'}`,
      )
    })
  }
})
