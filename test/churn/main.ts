/** Workloads under churn, with processes killed at random. Started by "npm run test:churn". */
import process from 'node:process'
import { parseArgs } from 'node:util'
import { churnConnections } from './churn-connections.ts'
import { churnDeployments } from './churn-deployments.ts'

const PARTS = ['deployments', 'connections']
const HELP = `Usage: npm run test:churn -- [options]
  --minutes N       how long Deployments are scaled, rolled and killed for (10)
  --deployments N   how many there are (200)
  --connections N   how many go through a Service while its pods roll (10000)
  --seed N          of all that is random; each run prints its own
  --only PART       ${PARTS.join(' or ')}; the second needs root and containerd`

process.exitCode = await main()

async function main(): Promise<number> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    options: { minutes: text, deployments: text, connections: text, seed: text, only: text, help: { type: 'boolean' } },
  })
  if (values.help === true) {
    console.log(HELP)
    return 0
  }
  if (values.only !== undefined && !PARTS.includes(values.only)) {
    console.error(`Cannot run "${values.only}": expected ${PARTS.join(' or ')}\n\n${HELP}`)
    return 2
  }
  const count = (name: 'minutes' | 'deployments' | 'connections' | 'seed', usual: number) => {
    const value = Number(values[name] ?? usual)
    if (!(value > 0)) throw new Error(`Cannot use --${name} "${values[name]}": expected a number above 0`)
    return value
  }
  const seed = count('seed', Date.now() % 1_000_000)
  console.log(`seed ${seed}`)
  const problems: string[] = []
  if (values.only !== 'connections')
    problems.push(
      ...(await churnDeployments({ minutes: count('minutes', 10), deployments: count('deployments', 200), seed })),
    )
  if (values.only !== 'deployments')
    problems.push(...(await churnConnections({ connections: count('connections', 10_000) })))
  for (const problem of problems) console.log(`FAILED  ${problem}`)
  console.log(problems.length === 0 ? 'ok' : `${problems.length} failed`)
  return problems.length === 0 ? 0 : 1
}
