/** Records what a real API server answers to all cases, or to those of the tables that are named: KUBE_BIN=DIR record.ts [TABLE…] */
import process from 'node:process'
import { findKubePrograms, KUBE_BIN } from '../../control-plane/kube-programs.ts'
import { allTables } from './all-tables.ts'
import { startRealTarget } from './real-target.ts'
import { writeRecorded } from './recorded-answers.ts'
import { runTable } from './run-case.ts'

const programs = findKubePrograms()
if (programs === undefined) throw new Error(`Cannot record: ${KUBE_BIN} is not set`)
const names = process.argv.slice(2)
await using target = await startRealTarget(programs)
for (const table of allTables.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const started = performance.now()
  writeRecorded(table, await runTable(target, table))
  console.log(`${table.name}: ${table.cases.length} cases (${Math.round(performance.now() - started)} ms)`)
}
