import { readFile } from 'node:fs/promises'
import type { LabAgent } from '../e2e/lab/lab-agent.ts'
import { readHolds, withLoopWatch } from '../e2e/support/watched-agent.ts'
import { computeMedian } from './compute-statistics.ts'
import { steadyCpu } from './measure-idle.ts'
import { measureBurst, measureRecovery, readMetrics, withThresholds } from './measure-many-pods.ts'
import type { Samples } from './rows.ts'
import { isReady, startBenchAgent } from './scenario.ts'
import type { Bench, Scenario } from './scenario.ts'
import { memoryUse } from './usage.ts'
import { now, waitFor } from './wait.ts'

// Of a full node's.
const FEW = 0.1
const GONE_MS = 300_000
const READY_MS = 120_000
// What is looked for is ten times as long.
const LOOP_TICK_MS = 1

const asked = {
  'dense-pods': '/pods',
  'dense-summary': '/stats/summary',
  'dense-cadvisor': '/metrics/cadvisor',
  'dense-metrics': '/metrics',
}

/** A node that is full: what it costs at rest, what is asked of it, and all of its pods removed at once. Then the same with few pods, for what each costs. */
export const densityScenario: Scenario = {
  name: 'density',
  rows: [
    'dense-ready',
    'dense-burst-cpu',
    'dense-cpu',
    'dense-memory',
    'dense-anonymous',
    ...Object.keys(asked).flatMap((row) => [row, `${row}-size`]),
    'dense-event-loop',
    'dense-scrape-time',
    'dense-scrape-hold',
    'dense-recovery',
    'dense-gone',
    'sparse-cpu',
    'sparse-memory',
    'dense-growth',
    'dense-pod-memory',
  ],
  async measure(bench: Bench): Promise<Samples> {
    const config = { ...withThresholds, maxPods: bench.densePods }
    const full = { ...bench, pods: bench.densePods }
    const agent = await startBenchAgent(full, config)
    const burst = await measureBurst(full, agent)
    const dense = await measureSteady(full, agent)
    const answers: Record<string, readonly number[]> = {}
    for (const [row, path] of Object.entries(asked)) Object.assign(answers, await ask(full, agent, row, path))
    const { 'event-loop': delay = [] } = await readMetrics(full.lab, agent)
    const { recovery, successor } = await measureRecovery(full, agent, config)
    // Only our own agent can be watched from inside.
    const { last, scrapes } =
      bench.binary === undefined ? await measureScrapes(full, successor, config) : { last: successor, scrapes: {} }
    const gone = await removeAll(full, last)
    await last.kill()
    const few = { ...bench, pods: Math.ceil(full.pods * FEW) }
    const fewAgent = await startBenchAgent(few, config)
    await measureBurst(few, fewAgent, 'few')
    const sparse = await measureSteady(few, fewAgent)
    return {
      'dense-ready': burst['all-ready'] ?? [],
      'dense-burst-cpu': burst['burst-cpu'] ?? [],
      'dense-cpu': [dense.cpu],
      'dense-memory': [dense.pssMegabytes],
      'dense-anonymous': [dense.anonymousMegabytes],
      ...answers,
      'dense-event-loop': delay,
      ...scrapes,
      'dense-recovery': recovery,
      'dense-gone': [gone],
      'sparse-cpu': [sparse.cpu],
      'sparse-memory': [sparse.pssMegabytes],
      'dense-growth': [dense.cpu / sparse.cpu],
      'dense-pod-memory': [(dense.pssMegabytes - sparse.pssMegabytes) / (full.pods - few.pods)],
    }
  },
}

async function measureSteady(bench: Bench, agent: LabAgent) {
  const cpu = await steadyCpu(agent.pid, bench)
  return { cpu, ...(await memoryUse(agent.pid)) }
}

/** How long an answer takes, and how long it is; none where the agent has no such path. */
async function ask({ lab, runs }: Bench, agent: LabAgent, row: string, path: string): Promise<Samples> {
  const times: number[] = []
  const sizes: number[] = []
  for (let run = 0; run < runs; run += 1) {
    const from = performance.now()
    const answer = await lab.network.get(urlOf(agent, path)).catch(() => undefined)
    if (answer?.status !== 200) return {}
    times.push((performance.now() - from) / 1000)
    sizes.push(Buffer.byteLength(answer.body) / 1e6)
  }
  return { [row]: times, [`${row}-size`]: sizes }
}

function urlOf(agent: LabAgent, path: string): string {
  return `http://127.0.0.1:${String(agent.config['readOnlyPort'])}${path}`
}

/** What answers cost the event loop, by an agent that is watched: the CPU time of the dearest, and the longest piece of work without a pause. */
async function measureScrapes(
  bench: Bench,
  before: LabAgent,
  config: Readonly<Record<string, unknown>>,
): Promise<{ last: LabAgent; scrapes: Samples }> {
  const { lab, pods, runs, signal } = bench
  const file = `${lab.folder}/loop-holds`
  await before.kill()
  const last = await lab.startAgent(withLoopWatch(file, { config }, LOOP_TICK_MS))
  await last.healthy()
  const areReady = async () => (await last.pods().catch(() => [])).filter(isReady).length >= pods
  await waitFor('the pods', areReady, { pollMs: 500, deadlineMs: READY_MS, signal })
  const times: number[] = []
  const holds: number[] = []
  for (const path of Object.values(asked)) {
    // The first one loads what it needs.
    for (let run = 0; run <= runs; run += 1) {
      const [cpu, from] = [await mainThreadSeconds(last.pid), Date.now()]
      await lab.network.get(urlOf(last, path))
      const used = (await mainThreadSeconds(last.pid)) - cpu
      const held = (await readHolds(file)).holds.filter(({ at }) => at >= from).map(({ ms }) => ms)
      if (run === 0) continue
      times.push(used)
      holds.push(Math.max(0, ...held) / 1000)
    }
    console.error(`${path}: ${describe(times.slice(-runs))} of the loop, held ${describe(holds.slice(-runs))}`)
  }
  // The dearest path: of each the median, as one of them may be hit by a collection of garbage.
  const medians = (values: readonly number[]) =>
    Object.keys(asked).map((_, index) => computeMedian(values.slice(index * runs, (index + 1) * runs)) ?? 0)
  return {
    last,
    scrapes: { 'dense-scrape-time': [Math.max(...medians(times))], 'dense-scrape-hold': [Math.max(...medians(holds))] },
  }
}

function describe(values: readonly number[]): string {
  return `${((computeMedian(values) ?? 0) * 1000).toFixed(1)} ms (at most ${(Math.max(...values) * 1000).toFixed(1)})`
}

const NANOSECONDS = 1e9

/** CPU time of the thread that runs JavaScript. */
async function mainThreadSeconds(pid: number): Promise<number> {
  const [ran = '0'] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ')
  return Number(ran) / NANOSECONDS
}

async function removeAll({ lab, pods, signal }: Bench, agent: LabAgent): Promise<number> {
  const from = now()
  for (let index = 0; index < pods; index += 1) await lab.manifests.remove(`many-${String(index).padStart(3, '0')}`)
  // The agent may show no pod any more while their containers still end, and a busy runtime may not answer in time.
  const isGone = async () => {
    const [shown, tasks] = await Promise.all([agent.pods(), lab.runtime.tasks()]).catch(() => [undefined, undefined])
    return shown?.length === 0 && tasks?.length === 0 && now()
  }
  return ((await waitFor('all pods to be gone', isGone, { pollMs: 1000, deadlineMs: GONE_MS, signal })) - from) / 1000
}
