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

const NODES = 100
const PODS_PER_NODE = 10
const AT_ONCE = 20
const PATIENCE_MS = 180_000
const CHILD = fileURLToPath(new URL('api-child.ts', import.meta.url))
const DECKHAND = fileURLToPath(new URL('../../bin/deckhand', import.meta.url))
const READY = new RegExp(
  `nodes ${NODES} \\(${NODES} ready\\); pods ${NODES * PODS_PER_NODE} \\(${NODES * PODS_PER_NODE} ready\\)`,
)
const REQUESTS = /requests ([\d.]+)\/s/

/** Many nodes in one process, on the API of the standalone node. They have no counterpart in another kubelet. */
export const simulationScenario: Scenario = {
  name: 'simulation',
  rows: ['simulated-cpu', 'simulated-memory', 'simulated-requests'],
  isOwn: true,
  async measure({ lab, steadyMs, signal }: Bench): Promise<Samples> {
    const folder = `${lab.folder}/api`
    const api = spawn(process.execPath, [CHILD, folder], { stdio: ['pipe', 'pipe', 'inherit'] })
    const ended = once(api, 'exit')
    try {
      await once(createInterface(api.stdout), 'line', { signal })
      return await simulate(`${folder}/admin.kubeconfig`, steadyMs, signal)
    } finally {
      api.stdin.end()
      await ended
    }
  },
}

async function simulate(kubeconfig: string, steadyMs: number, signal: AbortSignal): Promise<Samples> {
  const args = ['simulate', '--nodes', String(NODES), '--kubeconfig', kubeconfig, '--at-end', 'keep']
  const child = spawn(DECKHAND, [...args, '--report-every', '5s'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => void lines.push(line))
  try {
    await using tasks = new TaskGroup(signal)
    await bindPods(await openClient(Math.random, kubeconfig, tasks), signal)
    const giveUpAt = performance.now() + PATIENCE_MS
    while (!lines.some((line) => READY.test(line))) {
      if (performance.now() > giveUpAt)
        throw new Error(`The pods are not ready in time:\n${lines.slice(-3).join('\n')}`)
      await sleep(500, undefined, { signal })
    }
    // The last statuses and events are still on their way.
    await sleep(15_000, undefined, { signal })
    const pid = child.pid ?? 0
    const [before, from] = [await cpuSeconds(pid), lines.length]
    await sleep(Math.max(steadyMs, 20_000), undefined, { signal })
    const seconds = Math.max(steadyMs, 20_000) / 1000
    const rates = lines.slice(from).map((line) => Number(REQUESTS.exec(line)?.[1] ?? 0))
    return {
      'simulated-cpu': [(((await cpuSeconds(pid)) - before) / seconds / NODES) * 100],
      'simulated-memory': [(await memoryUse(pid)).pssMegabytes / NODES],
      'simulated-requests': [rates.reduce((sum, rate) => sum + rate, 0) / Math.max(1, rates.length)],
    }
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

async function bindPods(client: KubeClient, signal: AbortSignal): Promise<void> {
  const left = Array.from({ length: NODES * PODS_PER_NODE }, (_, index) => index).values()
  const worker = async () => {
    for (const index of left) {
      const spec = {
        nodeName: `simulated-${1 + (index % NODES)}`,
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image: 'registry.test/app:1' }],
      }
      const body = { metadata: { name: `load-${index}` }, spec }
      await client.send({ method: 'POST', path: '/api/v1/namespaces/default/pods', body }, signal)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
