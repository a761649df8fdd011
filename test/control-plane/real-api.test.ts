import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { findKubePrograms, KUBE_BIN } from './kube-programs.ts'
import { allTables } from '../contract/api-server/all-tables.ts'
import type { ApiTarget } from '../contract/api-server/api-target.ts'
import { findDifferences, formatDifferences } from '../contract/api-server/compare-answers.ts'
import { startRealTarget } from '../contract/api-server/real-target.ts'
import { readRecorded } from '../contract/api-server/recorded-answers.ts'
import { runTable } from '../contract/api-server/run-case.ts'
import type { TableAnswers } from '../contract/api-server/run-case.ts'

const programs = findKubePrograms()

/** What our API server is compared with is what a real one answers today. */
describe(
  'the real API server answers as recorded',
  { skip: programs === undefined && `${KUBE_BIN} is not set` },
  () => {
    let target: ApiTarget
    before(async () => {
      if (programs !== undefined) target = await startRealTarget(programs)
    })
    after(async () => await target[Symbol.asyncDispose]())

    for (const table of allTables) {
      describe(table.name, () => {
        const recorded = readRecorded(table)
        let answers: TableAnswers = {}
        before(async () => {
          answers = await runTable(target, table)
        })
        for (const { name } of table.cases) {
          test(name, () => {
            const differences = findDifferences(recorded[name], answers[name])
            assert.equal(formatDifferences(differences), '', 'record.ts records the answers again')
          })
        }
      })
    }
  },
)
