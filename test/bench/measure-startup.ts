import { setTimeout as sleep } from 'node:timers/promises'
import type { LabAgent } from '../e2e/lab/lab-agent.ts'
import type { Samples } from './rows.ts'
import type { Bench, Scenario } from './scenario.ts'
import { cpuSeconds } from './usage.ts'
import { now } from './wait.ts'

/** How fast an agent is healthy, and what that costs: as it is built, and from the sources as in a checkout that was edited. */
export const startupScenario: Scenario = {
  name: 'startup',
  rows: ['startup', 'startup-cpu', 'startup-cpu-sources'],
  async measure(bench: Bench): Promise<Samples> {
    const samples = { startup: [] as number[], 'startup-cpu': [] as number[], 'startup-cpu-sources': [] as number[] }
    await warmUp(bench, {})
    if (bench.binary === undefined) await warmUp(bench, SOURCES)
    for (let run = 0; run < bench.runs; run += 1) {
      const built = await start(bench, {})
      samples.startup.push((now() - built.startedAt) / 1000)
      samples['startup-cpu'].push(await cpuSeconds(built.pid))
      await built.kill('SIGKILL')
      bench.signal.throwIfAborted()
      if (bench.binary !== undefined) continue
      const sources = await start(bench, SOURCES)
      samples['startup-cpu-sources'].push(await cpuSeconds(sources.pid))
      await sources.kill('SIGKILL')
    }
    return samples
  },
}

const CACHES_WRITTEN_MS = 3000
// The first start from the sources builds them, which takes its time on a busy machine.
const PATIENCE_MS = 180_000
const SOURCES = { DECKHAND_RUN: 'sources' }

async function start({ lab, binary }: Bench, environment: Readonly<Record<string, string>>): Promise<LabAgent> {
  const agent = await lab.startAgent({ environment, ...(binary !== undefined && { binary }) })
  await agent.healthy(PATIENCE_MS)
  return agent
}

/** The first start fills the caches, some of them after it has ended. */
async function warmUp(bench: Bench, environment: Readonly<Record<string, string>>): Promise<void> {
  const agent = await start(bench, environment)
  await sleep(CACHES_WRITTEN_MS, undefined, { signal: bench.signal })
  await agent.kill('SIGTERM')
}
