import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { faultGroups } from './all-faults.ts'
import { FAULTS_PAGE, toFaultsPage } from './faults-page.ts'
import { testedFaults } from './tested-faults.ts'

describe('the table of faults', () => {
  test('is what docs/faults.md says', () => {
    // Layout of tables is the formatter's.
    const normalize = (text: string) => text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---')
    assert.equal(
      normalize(readFileSync(FAULTS_PAGE, 'utf8')),
      normalize(toFaultsPage()),
      'run bin/node test/faults/faults-page.ts',
    )
  })

  test('has each name once, an invariant in each row, and tests that are there', () => {
    const rows = [...faultGroups.flatMap(({ rows: made }) => made), ...testedFaults]
    const names = rows.map(({ name }) => name)
    assert.deepEqual(names, [...new Set(names)])
    for (const { name, invariants } of rows) {
      assert.match(name, /^[a-z0-9-]+$/)
      assert.ok(invariants.length > 0, name)
    }
    for (const file of testedFaults.flatMap(({ files }) => files)) assert.ok(existsSync(file), file)
  })
})
