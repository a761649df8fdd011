/** Makes every fault of docs/faults.md, one after the other, and checks what must hold. Started by "npm run test:faults". */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { withImages } from '../../tools/with-images.ts'
import { faultGroups } from './all-faults.ts'
import type { FaultGroup, FaultOptions, TestedFault } from './fault-row.ts'
import { testedFaults } from './tested-faults.ts'

const DEFAULT_CHURN_MINUTES = 4
const HELP = `Usage: npm run test:faults -- [--minutes N] [--only NAME,…]
  --minutes N   how long pods come and go under random kills (default ${DEFAULT_CHURN_MINUTES}; 1440 is a day)
  --only NAMES  only these rows of docs/faults.md`

interface Counts {
  passed: number
  failed: number
}

/** Runs a row and says how it went; true when it passed. */
async function judge(counts: Counts, name: string, run: () => Promise<void>): Promise<boolean> {
  const startedAt = performance.now()
  const failure = await run().then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${failure === undefined ? 'ok    ' : 'FAILED'}  ${name} (${seconds} s)`)
  if (failure === undefined) counts.passed += 1
  else {
    counts.failed += 1
    console.log(failure.error)
  }
  return failure === undefined
}

async function runGroup(counts: Counts, { name, open, rows }: FaultGroup, options: FaultOptions): Promise<void> {
  console.log(`faults: ${name}`)
  let ground: AsyncDisposable | undefined
  for (const row of rows) {
    const hasPassed = await judge(counts, row.name, async () => {
      ground ??= await open()
      await row.run(ground, options)
    })
    if (hasPassed) continue
    // What a row left that failed says nothing about the next one.
    await ground?.[Symbol.asyncDispose]()
    ground = undefined
  }
  await ground?.[Symbol.asyncDispose]()
}

async function runTested(counts: Counts, { name, files }: TestedFault): Promise<void> {
  await judge(counts, name, async () => {
    const argv = ['--test', '--test-concurrency=1', '--test-reporter=./tools/quiet-reporter.ts', ...files]
    const [code] = (await once(spawn(process.execPath, argv, { stdio: 'inherit' }), 'exit')) as [number | null]
    if (code !== 0) throw new Error(`Cannot pass "${name}": a test failed, see above`)
  })
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { minutes: { type: 'string' }, only: { type: 'string' }, help: { type: 'boolean' } },
  })
  if (values.help === true) {
    console.log(HELP)
    return 0
  }
  const churnMinutes = Number(values.minutes ?? DEFAULT_CHURN_MINUTES)
  if (!(churnMinutes > 0)) throw new Error(`Cannot use --minutes "${values.minutes}": expected a number above 0`)
  const only = values.only?.split(',')
  const isChosen = ({ name }: { readonly name: string }) => only?.includes(name) ?? true
  const groups = faultGroups.map((group) => ({ ...group, rows: group.rows.filter(isChosen) }))
  const tested = testedFaults.filter(isChosen)
  const known = [...faultGroups.flatMap(({ rows }) => rows), ...testedFaults].map(({ name }) => name)
  const unknown = only?.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`Cannot find fault "${unknown}": expected one of ${known.join(', ')}`)
  const counts: Counts = { passed: 0, failed: 0 }
  await withImages(async () => {
    const options = { churnMinutes, say: (text: string) => console.log(`        ${text}`) }
    for (const group of groups) if (group.rows.length > 0) await runGroup(counts, group, options)
    if (tested.length > 0) console.log('faults that the usual tests make')
    for (const fault of tested) await runTested(counts, fault)
  })
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
  return counts.failed === 0 ? 0 : 1
}

process.exitCode = await main()
