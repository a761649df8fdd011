import type { LabAgent } from '../e2e/lab/lab-agent.ts'
import { steadyCpu } from './measure-idle.ts'
import { measureBurst, measureRecovery, withThresholds } from './measure-many-pods.ts'
import type { Samples } from './rows.ts'
import { startBenchAgent } from './scenario.ts'
import type { Bench, Scenario } from './scenario.ts'
import { memoryUse } from './usage.ts'
import { now, waitFor } from './wait.ts'

const PODS = 500
const GONE_MS = 300_000
const config = { ...withThresholds, maxPods: PODS }

const asked = {
  'dense-pods': '/pods',
  'dense-summary': '/stats/summary',
  'dense-cadvisor': '/metrics/cadvisor',
  'dense-metrics': '/metrics',
}

/** A node that is full: what it costs at rest, what is asked of it, and all of its pods removed at once. */
export const densityScenario: Scenario = {
  name: 'density',
  rows: [
    'dense-ready',
    'dense-burst-cpu',
    'dense-cpu',
    'dense-memory',
    'dense-anonymous',
    ...Object.keys(asked),
    'dense-recovery',
    'dense-gone',
  ],
  async measure(bench: Bench): Promise<Samples> {
    const full = { ...bench, pods: PODS }
    const agent = await startBenchAgent(full, config)
    const burst = await measureBurst(full, agent)
    const cpu = await steadyCpu(agent.pid, full)
    const { pssMegabytes, anonymousMegabytes } = await memoryUse(agent.pid)
    const answers: Record<string, readonly number[]> = {}
    for (const [row, path] of Object.entries(asked)) answers[row] = await ask(full, agent, path)
    const { recovery, successor } = await measureRecovery(full, agent, config)
    return {
      'dense-ready': burst['all-ready'] ?? [],
      'dense-burst-cpu': burst['burst-cpu'] ?? [],
      'dense-cpu': [cpu],
      'dense-memory': [pssMegabytes],
      'dense-anonymous': [anonymousMegabytes],
      ...answers,
      'dense-recovery': recovery,
      'dense-gone': [await removeAll(full, successor)],
    }
  },
}

/** How long an answer takes; none where the agent has no such path. */
async function ask({ lab, runs }: Bench, agent: LabAgent, path: string): Promise<readonly number[]> {
  const times: number[] = []
  for (let run = 0; run < runs; run += 1) {
    const from = performance.now()
    const url = `http://127.0.0.1:${String(agent.config['readOnlyPort'])}${path}`
    const answer = await lab.network.get(url).catch(() => undefined)
    if (answer?.status !== 200) return []
    times.push((performance.now() - from) / 1000)
  }
  return times
}

async function removeAll({ lab, pods, signal }: Bench, agent: LabAgent): Promise<number> {
  const from = now()
  for (let index = 0; index < pods; index += 1) await lab.manifests.remove(`many-${String(index).padStart(3, '0')}`)
  const isGone = async () => (await agent.pods().catch(() => undefined))?.length === 0 && now()
  return ((await waitFor('all pods to be gone', isGone, { pollMs: 100, deadlineMs: GONE_MS, signal })) - from) / 1000
}
