import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ContractAnswer, ContractTable } from './contract-case.ts'
import type { TableAnswers } from './run-case.ts'

interface RecordedLine {
  readonly case: string
  readonly answers: readonly ContractAnswer[]
}

/** What the real API server answered to the cases of a table; a line for each case. */
export function readRecorded({ name }: ContractTable): TableAnswers {
  const path = pathOf(name)
  if (!existsSync(path)) return {}
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  return Object.fromEntries(
    lines.map((line) => JSON.parse(line) as RecordedLine).map((line) => [line.case, line.answers]),
  )
}

export function writeRecorded({ name, cases }: ContractTable, answers: TableAnswers): void {
  const lines = cases.map((each) => JSON.stringify({ case: each.name, answers: answers[each.name] }))
  writeFileSync(pathOf(name), `${lines.join('\n')}\n`)
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`recorded/${name}.jsonl`, import.meta.url))
}
