import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import type { KubeClient } from '../../src/protocols/kube-api/kube-client.ts'
import { openClient } from '../../src/standalone/node/api/open-client.ts'
import type { Samples } from './rows.ts'
import type { Bench, Scenario } from './scenario.ts'
import { cpuSeconds, memoryUse } from './usage.ts'

const PODS_PER_NODE = 10
const AT_ONCE = 20
const PATIENCE_MS = 900_000
const SETTLE_MS = 15_000
const CHILD = fileURLToPath(new URL('api-child.ts', import.meta.url))
const DECKHAND = fileURLToPath(new URL('../../bin/deckhand', import.meta.url))
const REQUESTS = /requests ([\d.]+)\/s/

const LAST_LINES = 3

export const simulationScenario = createScenario('simulation', 'simulated', 100)
export const fleetScenario = createScenario('fleet', 'fleet', 1000)

/** Many nodes in one process, on the API of the standalone node. They have no counterpart in another kubelet. */
function createScenario(name: string, prefix: string, nodes: number): Scenario {
  const rows = ['ready', 'cpu', 'memory', 'requests'].map((row) => `${prefix}-${row}`)
  return { name, rows, isOwn: true, measure: (bench) => measure(bench, prefix, nodes) }
}

async function measure({ lab, steadyMs, signal }: Bench, prefix: string, nodes: number): Promise<Samples> {
  const folder = `${lab.folder}/api`
  const api = spawn(process.execPath, [CHILD, folder], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(api, 'exit')
  try {
    await once(createInterface(api.stdout), 'line', { signal })
    const measured = await simulate(`${folder}/admin.kubeconfig`, { nodes, steadyMs }, signal)
    return Object.fromEntries(Object.entries(measured).map(([row, values]) => [`${prefix}-${row}`, values]))
  } finally {
    api.stdin.end()
    await ended
  }
}

async function simulate(
  kubeconfig: string,
  { nodes, steadyMs }: { readonly nodes: number; readonly steadyMs: number },
  signal: AbortSignal,
): Promise<Samples> {
  const args = ['simulate', '--nodes', String(nodes), '--kubeconfig', kubeconfig, '--at-end', 'keep']
  const child = spawn(DECKHAND, [...args, '--report-every', '5s'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines: string[] = []
  const pods = nodes * PODS_PER_NODE
  const allReady = `nodes ${nodes} (${nodes} ready); pods ${pods} (${pods} ready)`
  const began = performance.now()
  createInterface(child.stdout).on('line', (line) => void lines.push(line))
  try {
    await using tasks = new TaskGroup(signal)
    await bindPods(await openClient(Math.random, kubeconfig, tasks), nodes, signal)
    const giveUpAt = performance.now() + PATIENCE_MS
    while (!lines.some((line) => line.includes(allReady))) {
      if (performance.now() > giveUpAt)
        throw new Error(`The pods are not ready in time:\n${lines.slice(-LAST_LINES).join('\n')}`)
      await sleep(500, undefined, { signal })
    }
    const ready = (performance.now() - began) / 1000
    // The last statuses and events are still on their way.
    await sleep(SETTLE_MS, undefined, { signal })
    const pid = child.pid ?? 0
    const [before, from] = [await cpuSeconds(pid), lines.length]
    await sleep(Math.max(steadyMs, 20_000), undefined, { signal })
    const seconds = Math.max(steadyMs, 20_000) / 1000
    // The kinds of requests are in it.
    for (const line of lines.slice(-LAST_LINES)) console.error(line)
    const rates = lines.slice(from).map((line) => Number(REQUESTS.exec(line)?.[1] ?? 0))
    return {
      ready: [ready],
      cpu: [(((await cpuSeconds(pid)) - before) / seconds / nodes) * 100],
      memory: [(await memoryUse(pid)).pssMegabytes / nodes],
      requests: [rates.reduce((sum, rate) => sum + rate, 0) / Math.max(1, rates.length)],
    }
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

async function bindPods(client: KubeClient, nodes: number, signal: AbortSignal): Promise<void> {
  const left = Array.from({ length: nodes * PODS_PER_NODE }, (_, index) => index).values()
  const worker = async () => {
    for (const index of left) {
      const spec = {
        nodeName: `simulated-${1 + (index % nodes)}`,
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image: 'registry.test/app:1' }],
      }
      const body = { metadata: { name: `load-${index}` }, spec }
      await client.send({ method: 'POST', path: '/api/v1/namespaces/default/pods', body }, signal)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
