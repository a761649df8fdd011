import { setTimeout as sleep } from 'node:timers/promises'
import type { LabAgent } from '../e2e/lab/lab-agent.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'
import { steadyCpu } from './measure-idle.ts'
import type { Samples } from './rows.ts'
import { isReady, startBenchAgent } from './scenario.ts'
import type { Bench, Scenario } from './scenario.ts'
import { cpuSeconds, memoryUse } from './usage.ts'
import { now, waitFor } from './wait.ts'
import { createWorkload, WorkloadLogs } from './workload.ts'

const DEADLINE_MS = 300_000
// Long enough for an agent that would restart containers after its own start to have done so.
const RESTARTS_SEEN_MS = 5000

const burstRows = ['half-started', 'all-ready', 'burst-cpu']
const steadyRows = ['steady-cpu', 'asked-cpu', 'memory', 'anonymous', 'scrape', 'event-loop', 'heap']
const recoveryRows = ['recovery', 'recovery-restarts']

// As on a real node: all eviction thresholds are watched, and none is reached.
export const withThresholds = {
  evictionHard: {
    'memory.available': '1Mi',
    'nodefs.available': '1Mi',
    'nodefs.inodesFree': '10',
    'imagefs.available': '1Mi',
    'pid.available': '10',
  },
  localStorageCapacityIsolation: true,
}
const ASK_MS = 10_000

/** Many pods at once, then steady, then the agent killed under them. */
export const manyPodsScenario: Scenario = {
  name: 'many-pods',
  rows: burstRows.concat(steadyRows, recoveryRows),
  async measure(bench: Bench): Promise<Samples> {
    const agent = await startBenchAgent(bench, withThresholds)
    const burst = await measureBurst(bench, agent)
    const steady = await steadyCpu(agent.pid, bench)
    const { pssMegabytes, anonymousMegabytes } = await memoryUse(agent.pid)
    const asked = await askedCpu(bench, agent)
    const inside = await readMetrics(bench.lab, agent)
    const { successor: _, ...recovery } = await measureRecovery(bench, agent)
    const memory = { memory: [pssMegabytes], anonymous: [anonymousMegabytes] }
    return { ...burst, 'steady-cpu': [steady], 'asked-cpu': [asked], ...memory, ...inside, ...recovery }
  },
}

/** All pods written at once, until they are Ready. */
export async function measureBurst({ lab, pods, signal }: Bench, agent: LabAgent, prefix = 'many'): Promise<Samples> {
  const logs = new WorkloadLogs(String(agent.config['podLogsDir']))
  const cpuBefore = await cpuSeconds(agent.pid)
  const written = now()
  for (let index = 0; index < pods; index += 1) {
    const name = `${prefix}-${String(index).padStart(3, '0')}`
    await lab.manifests.write(name, createWorkload(name))
  }
  // The times are the workloads' own, so rare checks cost no precision; asking the agent would cost it CPU.
  const started = new Map<string, number>()
  await waitFor(
    `${pods} pods to start`,
    async () => {
      for (const pod of (await logs.pods()).filter((each) => each.startsWith(`default_${prefix}-`))) {
        const time = started.has(pod) ? undefined : await logs.time(pod, 0, 'started')
        if (time !== undefined) started.set(pod, time)
      }
      return started.size >= pods
    },
    { pollMs: 100, deadlineMs: DEADLINE_MS, signal },
  )
  const ready = await waitForReady(agent, pods, { pollMs: 50, signal })
  const times = [...started.values()].sort((a, b) => a - b)
  return {
    'half-started': [((times[Math.ceil(pods / 2) - 1] ?? 0) - written) / 1000],
    'all-ready': [(ready - written) / 1000],
    'burst-cpu': [(await cpuSeconds(agent.pid)) - cpuBefore],
  }
}

/** The agent killed under its pods, and the next one. */
export async function measureRecovery(
  bench: Bench,
  agent: LabAgent,
  config: Readonly<Record<string, unknown>> = withThresholds,
) {
  const before = await runningTasks(bench.lab)
  const killed = now()
  await agent.kill('SIGKILL')
  const successor = await startBenchAgent(bench, config)
  const ready = await waitForReady(successor, bench.pods, { pollMs: 20, signal: bench.signal })
  await sleep(RESTARTS_SEEN_MS, undefined, { signal: bench.signal })
  const after = new Set(await runningTasks(bench.lab))
  return {
    recovery: [(ready - killed) / 1000],
    'recovery-restarts': [before.filter((task) => !after.has(task)).length],
    successor,
  }
}

/** The same while a client reads what the pods use, as metrics-server does. */
async function askedCpu(bench: Bench, agent: LabAgent): Promise<number> {
  const ask = () => {
    for (const path of ['/stats/summary', '/metrics/resource']) {
      const url = `http://127.0.0.1:${String(agent.config['readOnlyPort'])}${path}`
      void bench.lab.network.get(url).catch(() => {})
    }
  }
  // What the first request costs is paid once.
  ask()
  const asking = setInterval(ask, ASK_MS)
  try {
    await sleep(ASK_MS - 1000, undefined, { signal: bench.signal })
    return await steadyCpu(agent.pid, bench)
  } finally {
    clearInterval(asking)
  }
}

async function waitForReady(
  agent: LabAgent,
  count: number,
  options: { readonly pollMs: number; readonly signal: AbortSignal },
): Promise<number> {
  return await waitFor(
    `${count} pods to be Ready`,
    // An agent that just started may not listen yet.
    async () => (await agent.pods().catch(() => [])).filter(isReady).length >= count && now(),
    { ...options, deadlineMs: DEADLINE_MS },
  )
}

async function runningTasks(lab: Lab): Promise<readonly string[]> {
  const tasks = await lab.runtime.tasks()
  return tasks.filter(({ status }) => status === 'RUNNING').map(({ id, pid }) => `${id} ${pid}`)
}

/** Metrics that only our agent has; nothing for another. */
export async function readMetrics(lab: Lab, agent: LabAgent): Promise<Samples> {
  const from = performance.now()
  const url = `http://127.0.0.1:${String(agent.config['readOnlyPort'])}/metrics`
  const answer = await lab.network.get(url).catch(() => undefined)
  if (answer?.status !== 200) return {}
  const scrape = [(performance.now() - from) / 1000]
  const value = (name: string) => /^\S+ ([\d.e+-]+)$/.exec(lineOf(answer.body, name))?.slice(1).map(Number) ?? []
  return {
    scrape,
    'event-loop': value('nodejs_eventloop_lag_p99_seconds'),
    heap: value('nodejs_heap_size_used_bytes').map((bytes) => bytes / 1e6),
  }
}

function lineOf(metrics: string, name: string): string {
  return metrics.split('\n').find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`)) ?? ''
}
