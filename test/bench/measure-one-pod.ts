import { NODE_NAME } from '../e2e/lab/lab-agent.ts'
import type { LabAgent } from '../e2e/lab/lab-agent.ts'
import { Floor } from './measure-floor.ts'
import { mergeSamples } from './rows.ts'
import type { Samples } from './rows.ts'
import { isReady, startBenchAgent } from './scenario.ts'
import type { Bench, Scenario } from './scenario.ts'
import { now, waitFor } from './wait.ts'
import { createWorkload, WorkloadLogs } from './workload.ts'

const DEADLINE_MS = 60_000

/** One pod after another on an otherwise empty node: started, its container killed, removed. Beside each the same calls without an agent. */
export const onePodScenario: Scenario = {
  name: 'one-pod',
  rows: ['start', 'start-floor', 'start-no-cgroups', 'ready', 'restart', 'stop'],
  async measure(bench: Bench): Promise<Samples> {
    const samples = await measurePods(bench, await startBenchAgent(bench), 'one')
    // Both are of our own agent, and of the machine.
    if (bench.binary !== undefined) return samples
    const plain = await startBenchAgent(bench, { cgroupsPerQOS: false, enforceNodeAllocatable: [] })
    const { start = [] } = await measurePods(bench, plain, 'plain')
    return { ...samples, 'start-no-cgroups': start }
  },
}

async function measurePods(bench: Bench, agent: LabAgent, prefix: string): Promise<Samples> {
  const logs = new WorkloadLogs(String(agent.config['podLogsDir']))
  using floor = new Floor(bench)
  const samples: Samples[] = []
  // The first pod pays for what the agent and the runtime load only once.
  for (let run = 0; run <= bench.runs; run += 1) {
    const name = `${prefix}-${run}`
    const measured = await measurePod(bench, { agent, logs, name })
    const bare = await floor.measure(`floor-${name}`)
    if (run > 0) samples.push({ ...measured, 'start-floor': [bare] })
  }
  await agent.kill()
  return mergeSamples(samples)
}

interface Subject {
  readonly agent: LabAgent
  readonly logs: WorkloadLogs
  readonly name: string
}

async function measurePod(bench: Bench, subject: Subject): Promise<Samples> {
  const { lab, signal } = bench
  const { agent, logs, name } = subject
  const often = { pollMs: 2, deadlineMs: DEADLINE_MS, signal }
  const written = await lab.manifests.write(name, createWorkload(name))
  const pod = await waitFor(`the log of ${name}`, () => logs.find(name, NODE_NAME), often)
  const started = await waitFor(`the start of ${name}`, () => logs.time(pod, 0, 'started'), often)
  const ready = await waitFor(`Ready of ${name}`, async () => isReady(await agent.pod(name)) && now(), often)
  const killed = await killContainer(bench, subject)
  const restarted = await waitFor(`the restart of ${name}`, () => logs.time(pod, 1, 'started'), often)
  await waitFor(`Ready again of ${name}`, async () => isReady(await agent.pod(name)), { ...often, pollMs: 50 })
  const removed = await lab.manifests.remove(name)
  const stopped = await waitFor(`SIGTERM in ${name}`, () => logs.time(pod, 1, 'term'), often)
  await waitFor(`the end of ${name}`, async () => (await agent.pod(name)) === undefined, { ...often, pollMs: 50 })
  const seconds = (from: number, to: number) => [(to - from) / 1000]
  return {
    start: seconds(written, started),
    ready: seconds(written, ready),
    restart: seconds(killed, restarted),
    stop: seconds(removed, stopped),
  }
}

/** SIGKILL to the container's first process; gives the time just before. */
async function killContainer({ lab }: Bench, { agent, name }: Subject): Promise<number> {
  const id = (await agent.pod(name))?.status?.containerStatuses?.[0]?.containerID?.replace(/^\w+:\/\//, '')
  const task = (await lab.runtime.tasks()).find((candidate) => candidate.id === id)
  const pid = task === undefined ? undefined : await lab.outerPid(task.pid)
  if (pid === undefined) throw new Error(`Cannot kill the container of ${name}: no task "${id}"`)
  const at = now()
  process.kill(pid, 'SIGKILL')
  return at
}
