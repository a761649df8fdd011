/** Records what a real kube-controller-manager does: KUBE_BIN=DIR record.ts [PART-OF-NAME…] */
import process from 'node:process'
import { findKubePrograms, KUBE_BIN } from '../../control-plane/kube-programs.ts'
import { allBehaviour } from './all-behaviour.ts'
import type { Outcome } from './behaviour-case.ts'
import { startRealControllers } from './real-controllers.ts'
import { readOutcomes, writeOutcomes } from './recorded-outcomes.ts'
import { runBehaviour } from './run-behaviour.ts'

const programs = findKubePrograms()
if (programs === undefined) throw new Error(`Cannot record: ${KUBE_BIN} is not set`)
const parts = process.argv.slice(2)
const isChosen = (table: string, name: string) =>
  parts.length === 0 || parts.some((part) => table.includes(part) || name.includes(part))
const chosen = Object.entries(allBehaviour).flatMap(([table, cases]) =>
  cases.filter(({ name }) => isChosen(table, name)),
)
await using api = await startRealControllers(programs)
const outcomes = await runBehaviour(api, chosen)
for (const [table, cases] of Object.entries(allBehaviour)) {
  const before = readBefore(table)
  const found = cases.flatMap(({ name }): [string, Outcome][] => {
    const outcome = outcomes.get(name) ?? before.get(name)
    if (outcome instanceof Error) console.error(outcome.message)
    return outcome === undefined || outcome instanceof Error ? [] : [[name, outcome]]
  })
  writeOutcomes(table, new Map(found))
  console.log(`${table}: ${found.length} of ${cases.length} cases`)
}

function readBefore(table: string): ReadonlyMap<string, Outcome> {
  try {
    return readOutcomes(table)
  } catch {
    return new Map()
  }
}
