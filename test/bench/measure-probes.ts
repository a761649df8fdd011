import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { BUSYBOX_IMAGE } from '../../src/standalone/images/node-images.ts'
import type { LabAgent } from '../e2e/lab/lab-agent.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'
import { countMissedPeriods, longestGap } from './probe-periods.ts'
import type { Samples } from './rows.ts'
import { isReady, startBenchAgent } from './scenario.ts'
import type { Bench, Scenario } from './scenario.ts'
import { cpuSeconds } from './usage.ts'
import { now, waitFor } from './wait.ts'
import { WorkloadLogs } from './workload.ts'

const PERIOD_MS = 1000
const WINDOW_MS = 60_000
const SETTLE_MS = 10_000
const DEADLINE_MS = 300_000
// A process in a container is expensive and most pods do without it: one in twenty has such a probe.
const PODS_PER_EXEC = 20

/** Many pods with startup, liveness and readiness probes each second: what they cost, and whether one is left out. */
export const probesScenario: Scenario = {
  name: 'probes',
  rows: ['probes-missed', 'probes-gap', 'probes-shortfall', 'probes-cpu', 'probes-event-loop'],
  async measure(bench: Bench): Promise<Samples> {
    const { lab, probedPods, signal } = bench
    const agent = await startBenchAgent(bench)
    const from = now()
    for (let index = 0; index < probedPods; index += 1) {
      const name = `probed-${String(index).padStart(3, '0')}`
      await lab.manifests.write(name, createProbedPod(name, index % PODS_PER_EXEC === 0))
    }
    const ready = async () => (await agent.pods()).filter(isReady).length >= probedPods
    await waitFor(`${probedPods} pods to be Ready`, ready, { pollMs: 500, deadlineMs: DEADLINE_MS, signal })
    console.error(`${probedPods} pods with probes are Ready after ${((now() - from) / 1000).toFixed(1)} s`)
    await sleep(SETTLE_MS, undefined, { signal })
    return await measureWindow(bench, agent)
  },
}

async function measureWindow({ lab, probedPods, signal }: Bench, agent: LabAgent): Promise<Samples> {
  const [runs, cpu, from] = [await countRuns(lab, agent), await cpuSeconds(agent.pid), now()]
  await sleep(WINDOW_MS, undefined, { signal })
  const [runsAfter, cpuAfter, to] = [await countRuns(lab, agent), await cpuSeconds(agent.pid), now()]
  const asked = await readRequests(agent, { from, to })
  if (asked.length !== probedPods) throw new Error(`Cannot read the logs of ${probedPods} pods: ${asked.length} found`)
  const window = { from, to, periodMs: PERIOD_MS }
  // The startup probe is done with, so two go on; each may lie at the edge of the window.
  const expected = 2 * probedPods * Math.floor((to - from) / PERIOD_MS - 1)
  return {
    'probes-missed': [asked.reduce((sum, times) => sum + countMissedPeriods(times, window), 0)],
    'probes-gap': [Math.max(...asked.map((times) => longestGap(times, window))) / 1000],
    ...(runs.total === 0 ? {} : { 'probes-shortfall': [Math.max(0, expected - (runsAfter.total - runs.total))] }),
    'probes-cpu': [((cpuAfter - cpu) / ((to - from) / 1000)) * 100],
    ...(runsAfter.eventLoop === undefined ? {} : { 'probes-event-loop': [runsAfter.eventLoop] }),
  }
}

/** When each workload was asked over HTTP, by its own log, in ms since the epoch. */
async function readRequests(
  agent: LabAgent,
  window: { readonly from: number; readonly to: number },
): Promise<readonly (readonly number[])[]> {
  const folder = String(agent.config['podLogsDir'])
  const pods = await new WorkloadLogs(folder).pods()
  return await Promise.all(
    pods.map(async (pod) => {
      const lines = (await readFile(`${folder}/${pod}/main/0.log`, 'utf8')).split('\n')
      const times = lines
        .filter((line) => line.endsWith('response:200'))
        .map((line) => Date.parse(line.split(' ')[0] ?? ''))
      return times.filter((time) => time >= window.from && time <= window.to)
    }),
  )
}

/** How many probes of all kinds the agent has run; 0 when it does not report it. */
async function countRuns(lab: Lab, agent: LabAgent): Promise<{ total: number; eventLoop: number | undefined }> {
  const port = String(agent.config['readOnlyPort'])
  let total = 0
  let eventLoop: number | undefined
  for (const path of ['metrics', 'metrics/probes']) {
    const answer = await lab.network.get(`http://127.0.0.1:${port}/${path}`).catch(() => undefined)
    for (const line of answer?.status === 200 ? answer.body.split('\n') : []) {
      const value = Number(line.split(' ').at(-1))
      if (/^prober_probe_total\{.*probe_type="(Liveness|Readiness|liveness|readiness)"/.test(line)) total += value
      if (line.startsWith('nodejs_eventloop_lag_p99_seconds ')) eventLoop = value
    }
  }
  return { total, eventLoop }
}

/** Serves HTTP and says in its log when it was asked; readiness over HTTP, the others over TCP or, on request, exec. */
function createProbedPod(name: string, withExec: boolean): object {
  const quick = { periodSeconds: PERIOD_MS / 1000, failureThreshold: 30 }
  const tcp = { tcpSocket: { port: 8080 }, ...quick }
  const script = 'mkdir /www; echo yes > /www/ready; exec httpd -f -v -p 8080 -h /www'
  const main = {
    name: 'main',
    image: BUSYBOX_IMAGE,
    imagePullPolicy: 'Never',
    command: ['sh', '-c', script],
    startupProbe: tcp,
    livenessProbe: withExec ? { exec: { command: ['test', '-e', '/www/ready'] }, ...quick } : tcp,
    readinessProbe: { httpGet: { port: 8080, path: '/ready' }, ...quick },
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { automountServiceAccountToken: false, enableServiceLinks: false, containers: [main] },
  }
}
