import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { findDifferences, formatDifferences } from '../contract/api-server/compare-answers.ts'
import { allBehaviour } from '../contract/controllers/all-behaviour.ts'
import type { Outcome } from '../contract/controllers/behaviour-case.ts'
import { startRealControllers } from '../contract/controllers/real-controllers.ts'
import { readOutcomes } from '../contract/controllers/recorded-outcomes.ts'
import { runBehaviour } from '../contract/controllers/run-behaviour.ts'
import { findKubePrograms, KUBE_BIN } from './kube-programs.ts'

const programs = findKubePrograms()

/** What our controllers are compared with is what the real ones do today. */
describe('the real controllers do as recorded', { skip: programs === undefined && `${KUBE_BIN} is not set` }, () => {
  let outcomes: ReadonlyMap<string, Outcome | Error> = new Map()
  before(async () => {
    if (programs === undefined) return
    await using api = await startRealControllers(programs)
    outcomes = await runBehaviour(api, Object.values(allBehaviour).flat())
  })
  for (const [table, cases] of Object.entries(allBehaviour)) {
    describe(table, () => {
      const recorded = readOutcomes(table)
      for (const { name } of cases) {
        test(name, () => {
          const outcome = outcomes.get(name)
          if (outcome instanceof Error) throw outcome
          const differences = findDifferences(recorded.get(name), outcome)
          assert.equal(formatDifferences(differences), '', 'record.ts records the outcomes again')
        })
      }
    })
  }
})
