import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { allTables } from './all-tables.ts'
import type { ApiTarget } from './api-target.ts'
import { findChosen } from './chosen-differences.ts'
import { findDifferences, formatDifferences } from './compare-answers.ts'
import { startOwnTarget } from './own-target.ts'
import { readRecorded } from './recorded-answers.ts'
import { runTable } from './run-case.ts'
import type { TableAnswers } from './run-case.ts'

/** Our API server answers as the real one did when it was recorded (docs/checklists/api-contract.md). */
describe('the standalone API answers like the real one', () => {
  let target: ApiTarget
  before(async () => {
    target = await startOwnTarget()
  })
  after(async () => await target[Symbol.asyncDispose]())

  for (const table of allTables) {
    describe(table.name, () => {
      const recorded = readRecorded(table)
      let answers: TableAnswers = {}
      before(async () => {
        answers = await runTable(target, table)
      })

      test('has a recorded answer for each case, and no other', () => {
        const names = table.cases.map(({ name }) => name)
        assert.deepEqual(Object.keys(recorded).toSorted(), [...new Set(names)].toSorted())
        assert.equal(new Set(names).size, names.length)
      })

      for (const { name } of table.cases) {
        test(name, () => {
          const differences = findDifferences(answers[name], recorded[name])
          const chosen = findChosen(table.name, name)
          const unexpected = differences.filter(({ path }) => !chosen.some(({ at }) => at.test(path)))
          assert.equal(formatDifferences(unexpected), '')
          const idle = chosen.filter(({ at }) => !differences.some(({ path }) => at.test(path)))
          assert.deepEqual(idle, [], 'these chosen differences are none any more')
        })
      }
    })
  }
})
