import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildExecutable } from '../../tools/package/build-executable.ts'
import { stripProgram } from '../../tools/package/strip-program.ts'
import type { Samples } from './rows.ts'
import type { Bench, Scenario } from './scenario.ts'
import { cpuSeconds, memoryUse } from './usage.ts'
import { now } from './wait.ts'

// Memory that only the start needed is given back by then.
const SETTLE_MS = 5000
// As the units and "deckhand up" start it (docs/decisions/0009-memory.md).
const MALLOC = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '65536' }

/** What operators install, the one executable, beside the other kubelet's: its size, and what a start and an idle agent cost. */
export const executableScenario: Scenario = {
  name: 'executable',
  rows: [
    'executable-size',
    'executable-startup',
    'executable-startup-cpu',
    'executable-memory',
    'executable-anonymous',
  ],
  async measure(bench: Bench): Promise<Samples> {
    const isOwn = bench.binary === undefined
    const binary = bench.binary ?? (await build(bench.lab.folder))
    const samples = { startup: [] as number[], cpu: [] as number[], memory: [] as number[], anonymous: [] as number[] }
    for (let run = 0; run < bench.runs; run += 1) {
      const agent = await bench.lab.startAgent({ binary, ...(isOwn && { environment: MALLOC }) })
      await agent.healthy()
      samples.startup.push((now() - agent.startedAt) / 1000)
      samples.cpu.push(await cpuSeconds(agent.pid))
      await sleep(SETTLE_MS, undefined, { signal: bench.signal })
      const { pssMegabytes, anonymousMegabytes } = await memoryUse(agent.pid)
      samples.memory.push(pssMegabytes)
      samples.anonymous.push(anonymousMegabytes)
      await agent.kill('SIGKILL')
    }
    return {
      'executable-size': [statSync(binary).size / 1e6],
      'executable-startup': samples.startup,
      'executable-startup-cpu': samples.cpu,
      'executable-memory': samples.memory,
      'executable-anonymous': samples.anonymous,
    }
  },
}

/** From the built programs, as "npm run package" does. */
async function build(folder: string): Promise<string> {
  const node = join(folder, 'node')
  copyFileSync(process.execPath, node)
  stripProgram(node)
  // Its name says which of the commands it is; in the folder itself that is the agent's root directory.
  const output = join(folder, 'executable/kubelet')
  const dist = join(import.meta.dirname, '../../dist')
  await buildExecutable({ dist, work: join(folder, 'executable'), node, run: [process.execPath], output })
  return output
}
