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

/** What operators install, the one executable, beside the other kubelet's: its size, and what a start and an idle agent cost. In turns with the launcher and dist, than which it may not be worse. */
export const executableScenario: Scenario = {
  name: 'executable',
  rows: [
    'executable-size',
    'executable-startup',
    'executable-startup-launcher',
    'executable-startup-cpu',
    'executable-startup-cpu-launcher',
    'executable-memory',
    'executable-anonymous',
    'executable-anonymous-launcher',
  ],
  async measure(bench: Bench): Promise<Samples> {
    const isOwn = bench.binary === undefined
    const binary = bench.binary ?? (await build(bench.lab.folder))
    // The first start of the launcher fills its caches.
    if (isOwn) await measureStart(bench, {})
    const [executable, launcher]: [Start[], Start[]] = [[], []]
    for (let run = 0; run < bench.runs; run += 1) {
      executable.push(await measureStart(bench, { binary, ...(isOwn && { environment: MALLOC }) }))
      if (isOwn) launcher.push(await measureStart(bench, {}))
    }
    return {
      'executable-size': [statSync(binary).size / 1e6],
      'executable-startup': executable.map(({ seconds }) => seconds),
      'executable-startup-launcher': launcher.map(({ seconds }) => seconds),
      'executable-startup-cpu': executable.map(({ cpu }) => cpu),
      'executable-startup-cpu-launcher': launcher.map(({ cpu }) => cpu),
      'executable-memory': executable.map(({ memory }) => memory),
      'executable-anonymous': executable.map(({ anonymous }) => anonymous),
      'executable-anonymous-launcher': launcher.map(({ anonymous }) => anonymous),
    }
  },
}

interface Start {
  readonly seconds: number
  readonly cpu: number
  readonly memory: number
  readonly anonymous: number
}

async function measureStart(
  { lab, signal }: Bench,
  settings: Parameters<Bench['lab']['startAgent']>[0],
): Promise<Start> {
  const agent = await lab.startAgent(settings)
  await agent.healthy()
  const seconds = (now() - agent.startedAt) / 1000
  const cpu = await cpuSeconds(agent.pid)
  await sleep(SETTLE_MS, undefined, { signal })
  const { pssMegabytes, anonymousMegabytes } = await memoryUse(agent.pid)
  await agent.kill('SIGKILL')
  return { seconds, cpu, memory: pssMegabytes, anonymous: anonymousMegabytes }
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
