import assert from 'node:assert/strict'
import process from 'node:process'
import { before, describe, test } from 'node:test'
import { KUBE_BIN } from '../../control-plane/kube-programs.ts'
import { findDifferences, formatDifferences } from '../api-server/compare-answers.ts'
import { allBehaviour } from './all-behaviour.ts'
import type { Outcome } from './behaviour-case.ts'
import { chosenBehaviour } from './chosen-behaviour.ts'
import { startOwnControllers } from './own-controllers.ts'
import { readOutcomes } from './recorded-outcomes.ts'
import { runBehaviour } from './run-behaviour.ts'

/** Minutes of waiting: with the real ones (`npm run test:cluster`), or when it is asked for. */
const WANTED = 'BEHAVIOUR'
const isWanted = Boolean(process.env[KUBE_BIN]) || Boolean(process.env[WANTED])

describe(
  'our controllers do what the real ones do',
  { skip: !isWanted && `neither ${KUBE_BIN} nor ${WANTED} is set` },
  () => {
    let outcomes: ReadonlyMap<string, Outcome | Error> = new Map()
    before(async () => {
      await using api = await startOwnControllers()
      const cases = Object.values(allBehaviour).flat()
      // A part of a name, or all of them.
      const part = process.env[WANTED] ?? 'all'
      outcomes = await runBehaviour(api, part === 'all' ? cases : cases.filter(({ name }) => name.includes(part)))
    })
    for (const [table, cases] of Object.entries(allBehaviour)) {
      describe(table, () => {
        const recorded = readOutcomes(table)
        for (const { name } of cases) {
          test(name, (t) => {
            const outcome = outcomes.get(name)
            if (outcome === undefined) return t.skip('not asked for')
            if (outcome instanceof Error) throw outcome
            assert.ok(recorded.has(name), 'record.ts records what the real ones do')
            const differences = findDifferences(outcome, recorded.get(name))
            const chosen = chosenBehaviour.filter(({ cases: listed }) => listed.includes(name))
            const unexpected = differences.filter(({ path }) => !chosen.some(({ at }) => at.test(path)))
            assert.equal(formatDifferences(unexpected), '')
            const idle = chosen.filter(({ at }) => !differences.some(({ path }) => at.test(path)))
            assert.deepEqual(idle, [], 'these chosen differences are none any more')
          })
        }
      })
    }
  },
)
