import { setTimeout as sleep } from 'node:timers/promises'
import type { Samples } from './rows.ts'
import { startBenchAgent } from './scenario.ts'
import type { Bench, Scenario } from './scenario.ts'
import { cpuSeconds, memoryUse } from './usage.ts'

// After its start an agent still loads and compiles; that is not what "steady" means.
const SETTLE_MS = 10_000
// Runtimes with a garbage collector still tidy up after a start for half a minute.
const AFTERMATH_MS = 20_000

/** An agent with nothing to do: what it costs. */
export const idleScenario: Scenario = {
  name: 'idle',
  rows: ['idle-cpu', 'rest-cpu', 'idle-memory', 'idle-anonymous'],
  async measure(bench: Bench): Promise<Samples> {
    const agent = await startBenchAgent(bench)
    const cpu = await steadyCpu(agent.pid, bench)
    const { pssMegabytes, anonymousMegabytes } = await memoryUse(agent.pid)
    await sleep(AFTERMATH_MS, undefined, { signal: bench.signal })
    return {
      'idle-cpu': [cpu],
      'rest-cpu': [await steadyCpu(agent.pid, bench)],
      'idle-memory': [pssMegabytes],
      'idle-anonymous': [anonymousMegabytes],
    }
  },
}

/** Percent of one core that the process and its children take while nothing changes. */
export async function steadyCpu(pid: number, { steadyMs, signal }: Bench): Promise<number> {
  await sleep(SETTLE_MS, undefined, { signal })
  const [before, from] = [await cpuSeconds(pid), performance.now()]
  await sleep(steadyMs, undefined, { signal })
  return (((await cpuSeconds(pid)) - before) / ((performance.now() - from) / 1000)) * 100
}
