import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeProbeResult } from './compute-probe-result.ts'
import type { ProbeStreak } from './compute-probe-result.ts'

interface Row {
  readonly name: string
  /** + for a success, - for a failure. */
  readonly answers: string
  readonly successThreshold?: number
  readonly failureThreshold?: number
  /** After each answer: + and - for a verdict, . for none. */
  readonly verdicts: string
}

const rows: readonly Row[] = [
  { name: 'one success is enough', answers: '+', verdicts: '+' },
  { name: 'three failures are needed', answers: '---', verdicts: '..-' },
  { name: 'further failures say it again', answers: '----', verdicts: '..--' },
  { name: 'a success starts the count again', answers: '--+---', verdicts: '..+..-' },
  { name: 'two successes are needed', answers: '+-++', successThreshold: 2, verdicts: '...+' },
  { name: 'one failure is enough', answers: '-+-', failureThreshold: 1, verdicts: '-+-' },
]

describe('computeProbeResult()', () => {
  for (const { name, answers, successThreshold = 1, failureThreshold = 3, verdicts } of rows) {
    test(name, () => {
      let streak: ProbeStreak | undefined
      const said = answers.split('').map((answer) => {
        const result = computeProbeResult(streak, answer === '+', { successThreshold, failureThreshold })
        ;({ streak } = result)
        return result.verdict === undefined ? '.' : result.verdict ? '+' : '-'
      })
      assert.equal(said.join(''), verdicts)
    })
  }
})
