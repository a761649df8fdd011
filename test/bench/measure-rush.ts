import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lease } from '../../src/model/generated/api-groups.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { findKubePrograms, KUBE_BIN } from '../control-plane/kube-programs.ts'
import { ClusterNode } from '../e2e/support/cluster-node.ts'
import { computeNodeLayout } from '../../src/standalone/node/node-layout.ts'
import { computePercentile } from './compute-statistics.ts'
import { openAdminApi } from './admin-api.ts'
import type { AdminApi } from './admin-api.ts'
import { longestGap } from './probe-periods.ts'
import type { Samples } from './rows.ts'
import { isReady } from './scenario.ts'
import type { Bench, Scenario } from './scenario.ts'
import { cpuSeconds } from './usage.ts'
import { now, waitFor } from './wait.ts'
import { createWorkload } from './workload.ts'
import { createWitness, readProbeGap, waitForWitness } from './witness.ts'

const PER_SECOND = 20
// Each lives so long, whether it got to run or not.
const LIFE_MS = 10_000
const ownKubelet = fileURLToPath(new URL('../../bin/kubelet', import.meta.url))
const PODS = '/api/v1/namespaces/default/pods'
const DEADLINE_MS = 300_000
const LEASE_POLL_MS = 500
const P99 = 99
// The agent renews it every ten seconds.
const LEASE_PERIOD_MS = 10_000

/** Pods of a real API server that come and go faster than a runtime can start them. */
export const rushScenario: Scenario = {
  name: 'rush',
  rows: [
    'rush-ready',
    'rush-ready-time',
    'rush-gone-time',
    'rush-cpu',
    'rush-requests',
    'rush-lease-gap',
    'rush-probe-gap',
  ],
  refusal: () =>
    findKubePrograms() === undefined ? `${KUBE_BIN} names no folder with the programs of a cluster` : undefined,
  async measure({ lab, binary, rushMs, signal }: Bench): Promise<Samples> {
    const programs = findKubePrograms()
    if (programs === undefined) throw new Error(`Cannot make a cluster: ${KUBE_BIN} is not set`)
    const state = `${lab.folder}/state`
    const layout = computeNodeLayout(state)
    const node = new ClusterNode(lab, state, binary ?? ownKubelet, programs, { readOnlyPort: 10_255, maxPods: 500 })
    await mkdir(layout.manifests, { recursive: true })
    await writeFile(`${layout.manifests}/witness.json`, JSON.stringify(createWitness()))
    try {
      await node.start()
      const api = await openAdminApi(lab, layout.adminKubeconfig)
      await waitForWitness(layout.podLogs, signal)
      const pid = await node.agentPid()
      const requests = async () => sumOf((await lab.network.get('http://127.0.0.1:10255/metrics')).body)
      const [cpu, asked, from] = [await cpuSeconds(pid), await requests(), now()]
      using leases = new LeaseWatch(api)
      const lives = await rush(api, rushMs, signal)
      const to = now()
      const all = lives.length
      const ready = lives.flatMap(({ made, ready: at }) => (at === undefined ? [] : [(at - made) / 1000]))
      return {
        'rush-ready': [ready.length / (rushMs / 1000)],
        ...(ready.length > 0 && { 'rush-ready-time': [computePercentile(ready, P99)] }),
        'rush-gone-time': [
          computePercentile(
            lives.map(({ deleted, gone }) => ((gone ?? to) - deleted) / 1000),
            P99,
          ),
        ],
        'rush-cpu': [((await cpuSeconds(pid)) - cpu) / all],
        'rush-requests': [((await requests()) - asked) / all],
        'rush-lease-gap': [leases.longestGap(from, to)],
        'rush-probe-gap': [await readProbeGap(layout.podLogs, { from, to })],
      }
    } finally {
      await node.leave()
    }
  },
}

interface Life {
  readonly name: string
  readonly made: number
  ready?: number
  deleted: number
  gone?: number
}

/** Makes pods at a fixed pace and deletes each when its time has come; gives what became of them when all are gone. */
async function rush(api: AdminApi, rushMs: number, signal: AbortSignal): Promise<readonly Life[]> {
  const lives = new Map<string, Life>()
  const sent: Promise<void>[] = []
  using watch = api.watch(`${PODS}?watch=true`, (type, object) => {
    const pod = object as Pod
    const life = lives.get(pod.metadata.name)
    if (life === undefined) return
    if (type === 'DELETED') life.gone ??= now()
    else if (isReady(pod)) life.ready ??= now()
  })
  const began = now()
  const count = (rushMs / 1000) * PER_SECOND
  for (let index = 0; index < count; index += 1) {
    const due = began + (index * 1000) / PER_SECOND
    if (due > now()) await sleep(due - now(), undefined, { signal })
    signal.throwIfAborted()
    const life: Life = { name: `rush-${index}`, made: now(), deleted: 0 }
    lives.set(life.name, life)
    sent.push(live(api, life, signal))
  }
  await Promise.all(sent)
  const areGone = async () => [...lives.values()].every(({ gone }) => gone !== undefined)
  await waitFor('the last pods to be gone', areGone, { pollMs: 200, deadlineMs: DEADLINE_MS, signal })
  watch.check()
  return [...lives.values()]
}

async function live(api: AdminApi, life: Life, signal: AbortSignal): Promise<void> {
  const { metadata, spec, ...workload } = createWorkload(life.name) as Pod
  const given = { ...spec, nodeName: 'lab-machine', terminationGracePeriodSeconds: 1 }
  await api.send('POST', PODS, { ...workload, metadata, spec: given })
  await sleep(LIFE_MS, undefined, { signal })
  life.deleted = now()
  await api.send('DELETE', `${PODS}/${life.name}`)
}

/** When the agent renewed its lease. */
class LeaseWatch implements Disposable {
  readonly #times = new Set<number>()
  readonly #timer: NodeJS.Timeout

  constructor(api: AdminApi) {
    const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/lab-machine'
    this.#timer = setInterval(() => {
      void api.send<Lease>('GET', path).then(
        ({ spec }) => this.#times.add(Date.parse(spec?.renewTime ?? '')),
        () => {},
      )
    }, LEASE_POLL_MS)
  }

  /** In seconds. */
  longestGap(from: number, to: number): number {
    const times = [...this.#times].filter((time) => time >= from && time <= to)
    return longestGap(times, { from, to, periodMs: LEASE_PERIOD_MS }) / 1000
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

/** All requests of the agent to the API, ever. */
function sumOf(metrics: string): number {
  const lines = metrics.split('\n').filter((line) => line.startsWith('rest_client_requests_total{'))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
