import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Outcome } from './behaviour-case.ts'

const folder = join(import.meta.dirname, 'recorded')

/** What a real kube-controller-manager made of the cases of a table. */
export function readOutcomes(table: string): ReadonlyMap<string, Outcome> {
  const lines = readFileSync(join(folder, `${table}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return new Map(lines.map((line) => JSON.parse(line) as [string, Outcome]))
}

export function writeOutcomes(table: string, outcomes: ReadonlyMap<string, Outcome>): void {
  const lines = [...outcomes].map((entry) => JSON.stringify(entry))
  writeFileSync(join(folder, `${table}.jsonl`), `${lines.join('\n')}\n`)
}
