import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Lab } from '../e2e/lab/start-lab.ts'
import { childPid } from '../e2e/lab/lab-namespaces.ts'
import type { PodList } from '../../src/model/generated/core-v1.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { openAdminApi } from './admin-api.ts'
import type { AdminApi } from './admin-api.ts'
import type { Samples } from './rows.ts'
import { isReady } from './scenario.ts'
import type { Bench, Scenario } from './scenario.ts'
import { waitFor } from './wait.ts'
import { createWorkload } from './workload.ts'

// As many as a node starts in a day that gets one every two minutes.
const PODS = 720
const WARM_UP_PODS = 60
const AT_ONCE = 10
const DEADLINE_MS = 120_000
// After so long without work the agent has given its garbage back, and V8 the pages that it keeps at first; on a busy machine too.
const SETTLE_MS = 60_000
const deckhand = fileURLToPath(new URL('../../bin/deckhand', import.meta.url))
const NAMESPACE = '/api/v1/namespaces/default'

/** A day of a busy node in a few minutes: pods of the API, each with a ConfigMap of its own, come, run and go. */
export const churnScenario: Scenario = {
  name: 'churn',
  rows: ['churn-heap', 'churn-memory', 'churn-requests'],
  isOwn: true,
  async measure({ lab, signal }: Bench): Promise<Samples> {
    await using node = await startNode(lab, signal)
    const { api } = node
    await churn(api, 0, WARM_UP_PODS, signal)
    const before = await measureIdle(lab, signal)
    await churn(api, WARM_UP_PODS, PODS, signal)
    const after = await measureIdle(lab, signal)
    return {
      'churn-heap': [after.heap - before.heap],
      'churn-memory': [after.resident - before.resident],
      'churn-requests': [(after.requests - before.requests) / (PODS - WARM_UP_PODS)],
    }
  },
}

async function startNode(lab: Lab, signal: AbortSignal): Promise<AsyncDisposable & { readonly api: AdminApi }> {
  const [state, log] = [`${lab.folder}/state`, `${lab.folder}/up.log`]
  const place = ['--state', state, '--runtime', lab.runtime.endpoint, '--cgroup-root', `${lab.cgroupRoot}/node`]
  const up = await lab.startInside([deckhand, 'up', ...place], log)
  const output = async () => await readFile(log, 'utf8').catch(() => '')
  const isUp = async () => (await output()).includes('stop all')
  await waitFor('the node to be up', isUp, { pollMs: 50, deadlineMs: DEADLINE_MS, signal })
  const api = await openAdminApi(lab, `${state}/admin.kubeconfig`)
  return {
    api,
    async [Symbol.asyncDispose]() {
      api.close()
      process.kill((await childPid(up.pid)) ?? up.pid, 'SIGTERM')
      await up.exited
    },
  }
}

/** Pods from one number up to another, some at a time. */
async function churn(api: AdminApi, from: number, to: number, signal: AbortSignal): Promise<void> {
  for (let first = from; first < to; first += AT_ONCE) {
    const names = Array.from({ length: AT_ONCE }, (_, index) => `churn-${first + index}`)
    await Promise.all(names.map((name) => create(api, name)))
    await waitForPods(api, 'to be Ready', (pods) => pods.filter(isReady).length === AT_ONCE, signal)
    await Promise.all(names.map((name) => remove(api, name)))
    await waitForPods(api, 'to be gone', (pods) => pods.length === 0, signal)
  }
}

async function create(api: AdminApi, name: string): Promise<void> {
  await api.send('POST', `${NAMESPACE}/configmaps`, { metadata: { name }, data: { name } })
  const workload = createWorkload(name) as Pod
  const volumes = [{ name: 'settings', configMap: { name } }]
  const containers = workload.spec.containers.map((container) => ({
    ...container,
    volumeMounts: [{ name: 'settings', mountPath: '/settings' }],
  }))
  const labels = { app: 'churn' }
  const pod = {
    ...workload,
    metadata: { ...workload.metadata, labels },
    spec: { ...workload.spec, volumes, containers },
  }
  await api.send('POST', `${NAMESPACE}/pods`, pod)
}

async function remove(api: AdminApi, name: string): Promise<void> {
  await api.send('DELETE', `${NAMESPACE}/pods/${name}`)
  await api.send('DELETE', `${NAMESPACE}/configmaps/${name}`)
}

async function waitForPods(
  api: AdminApi,
  what: string,
  isEnough: (pods: readonly Pod[]) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const ask = async () => {
    const { items } = await api.send<PodList>('GET', `${NAMESPACE}/pods?labelSelector=app%3Dchurn`)
    return isEnough(items as readonly Pod[])
  }
  await waitFor(`pods ${what}`, ask, { pollMs: 200, deadlineMs: DEADLINE_MS, signal })
}

interface IdleUsage {
  readonly heap: number
  readonly resident: number
  /** To the API, ever; watches count when they begin. */
  readonly requests: number
}

/** What the agent holds when it has nothing to do, in megabytes. It is not asked before, as that would be something to do. */
async function measureIdle(lab: Lab, signal: AbortSignal): Promise<IdleUsage> {
  await sleep(SETTLE_MS, undefined, { signal })
  const metrics = await readMetrics(lab)
  return {
    heap: sumOf(metrics, 'nodejs_heap_size_used_bytes') / 1e6,
    resident: sumOf(metrics, 'process_resident_memory_bytes') / 1e6,
    requests: sumOf(metrics, 'rest_client_requests_total'),
  }
}

async function readMetrics(lab: Lab): Promise<string> {
  const { status, body } = await lab.network.get('http://127.0.0.1:10255/metrics')
  if (status !== 200) throw new Error(`Cannot read the metrics of the agent: status ${status}, expected 200`)
  return body
}

function sumOf(metrics: string, name: string): number {
  const lines = metrics.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
