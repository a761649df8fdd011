import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { childPid } from '../e2e/lab/lab-namespaces.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'
import type { Deployment } from '../../src/model/generated/api-groups.ts'
import type { PodList, Service } from '../../src/model/generated/core-v1.ts'
import { BUSYBOX_IMAGE } from '../../src/standalone/images/node-images.ts'
import { openNodeApi } from './node-api.ts'
import type { NodeApi } from './node-api.ts'
import type { Samples } from './rows.ts'
import type { Bench, Scenario } from './scenario.ts'
import { cpuSeconds, memoryUse } from './usage.ts'
import { waitFor } from './wait.ts'

const SERVICES = 20
const ROLLED = 50
const REQUESTS = 500
const DNS_SECONDS = 5
const DEADLINE_MS = 240_000
const SETTLE_MS = 60_000
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const CORE = '/api/v1/namespaces/default'
const deckhand = fileURLToPath(new URL('../../bin/deckhand', import.meta.url))
const client = fileURLToPath(new URL('traffic-client.ts', import.meta.url))
const pageReader = fileURLToPath(new URL('page-reader.ts', import.meta.url))

/** The whole standalone node: its API, controllers, DNS and agent. */
export const standaloneScenario: Scenario = {
  name: 'standalone',
  rows: [
    'node-memory',
    'node-cpu',
    'page-memory',
    'page-cpu',
    'request-service',
    'request-direct',
    'dns-answers',
    'deployment-ready',
    'rollout',
  ],
  isOwn: true,
  async measure(bench: Bench): Promise<Samples> {
    const { lab, pods, runs, signal } = bench
    await using node = await startNode(lab, signal)
    const { api } = node
    const each = Math.max(1, Math.round(pods / SERVICES))
    const names = Array.from({ length: SERVICES }, (_, index) => `web-${index}`)
    for (const name of names) await createWeb(api, name, each)
    await waitForReady(api, names, each, signal)
    const traffic = await measureTraffic(lab, api)
    await sleep(SETTLE_MS, undefined, { signal })
    const idle = await measureIdle(node.pids, bench)
    const page = await measurePage(node.pids, idle, bench)
    for (const name of names) await api.send('PATCH', `${DEPLOYMENTS}/${name}`, { spec: { replicas: 0 } })
    await waitForReady(api, names, 0, signal)
    const ready = await measureReady(lab, api, runs, signal)
    return { ...traffic, ...idle, ...page, 'deployment-ready': ready, rollout: [await measureRollout(api, signal)] }
  },
}

interface StandaloneNode extends AsyncDisposable {
  readonly api: NodeApi
  /** Of "up" and of the agent. */
  readonly pids: { readonly up: number; readonly agent: number }
}

async function startNode(lab: Lab, signal: AbortSignal): Promise<StandaloneNode> {
  const [state, log] = [`${lab.folder}/state`, `${lab.folder}/up.log`]
  const place = ['--state', state, '--cgroup-root', `${lab.cgroupRoot}/node`]
  const up = await lab.startInside([deckhand, 'up', ...place], log)
  const output = async () => await readFile(log, 'utf8').catch(() => '')
  const isUp = async () => (await output()).includes('stop all')
  await waitFor('the node to be up', isUp, { pollMs: 50, deadlineMs: DEADLINE_MS, signal })
  const own = (await childPid(up.pid)) ?? up.pid
  const agent = await lab.outerPid(Number(/agent healthy \(pid (\d+)\)/.exec(await output())?.[1]))
  if (agent === undefined) throw new Error(`Cannot find the agent: ${await output()}`)
  const api = await openNodeApi(lab, `${state}/admin.kubeconfig`)
  return {
    api,
    pids: { up: own, agent },
    async [Symbol.asyncDispose]() {
      api.close()
      process.kill(own, 'SIGTERM')
      await up.exited
      await lab.runInside([deckhand, 'down', '--state', state], { deadlineMs: DEADLINE_MS })
    },
  }
}

function deploymentOf(name: string, replicas: number) {
  const labels = { app: name }
  const command = ['sh', '-c', 'mkdir -p /tmp/w && echo ok > /tmp/w/index.html && exec httpd -f -p 8080 -h /tmp/w']
  const container = { name: 'main', image: BUSYBOX_IMAGE, imagePullPolicy: 'Never', command }
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers: [container] } }
  return { metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } }
}

async function createWeb(api: NodeApi, name: string, replicas: number): Promise<void> {
  await api.send('POST', DEPLOYMENTS, deploymentOf(name, replicas))
  const spec = { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] }
  await api.send('POST', `${CORE}/services`, { metadata: { name }, spec })
}

async function waitForReady(api: NodeApi, names: readonly string[], replicas: number, signal: AbortSignal) {
  const areReady = async () => {
    const { items } = await api.send<{ readonly items: readonly Deployment[] }>('GET', DEPLOYMENTS)
    return names.every((name) =>
      isDone(
        items.find(({ metadata }) => metadata?.name === name),
        replicas,
      ),
    )
  }
  await waitFor(`${names.length} Deployments`, areReady, { pollMs: 500, deadlineMs: DEADLINE_MS, signal })
}

/** All replicas of the newest template, and no others. */
function isDone(deployment: Deployment | undefined, replicas: number): boolean {
  const { metadata, status = {} } = deployment ?? {}
  const counts = [status.replicas, status.updatedReplicas, status.availableReplicas].map((count) => count ?? 0)
  return status.observedGeneration === metadata?.generation && counts.every((count) => count === replicas)
}

async function measureTraffic(lab: Lab, api: NodeApi): Promise<Samples> {
  const ask = async (...args: readonly string[]) => {
    const { stdout, stderr } = await lab.runInside([process.execPath, client, ...args], { deadlineMs: DEADLINE_MS })
    if (stdout.trim() === '') throw new Error(`Cannot measure ${args.join(' ')}: ${stderr}`)
    return Number(stdout)
  }
  const { items } = await api.send<PodList>('GET', `${CORE}/pods?labelSelector=app%3Dweb-0`)
  const service = await api.send<Service>('GET', `${CORE}/services/web-0`)
  const dns = await api.send<Service>('GET', '/api/v1/namespaces/kube-system/services/kube-dns')
  const pod = items[0]?.status?.podIP ?? ''
  return {
    'request-direct': [await ask('request', `http://${pod}:8080/`, String(REQUESTS))],
    'request-service': [await ask('request', `http://${service.spec?.clusterIP}/`, String(REQUESTS))],
    'dns-answers': [
      await ask('dns', dns.spec?.clusterIP ?? '', 'web-0.default.svc.cluster.local', String(DNS_SECONDS)),
    ],
  }
}

async function measureIdle({ up, agent }: StandaloneNode['pids'], { steadyMs, signal }: Bench): Promise<Samples> {
  const cpu = async () => (await cpuSeconds(up, isNoPartOfUp)) + (await cpuSeconds(agent))
  const [before, began] = [await cpu(), performance.now()]
  await sleep(steadyMs, undefined, { signal })
  const used = (await cpu()) - before
  const seconds = (performance.now() - began) / 1000
  const memory = [await memoryUse(up, isNoPartOfUp), await memoryUse(agent)]
  return {
    'node-cpu': [(used / seconds) * 100],
    'node-memory': [memory.reduce((sum, { pssMegabytes }) => sum + pssMegabytes, 0)],
  }
}

/** What it costs more while one page is open. */
async function measurePage(pids: StandaloneNode['pids'], idle: Samples, bench: Bench): Promise<Samples> {
  const { lab, signal } = bench
  const log = `${lab.folder}/page.log`
  const argv = [deckhand, 'page', '--state', `${lab.folder}/state`]
  const { stdout } = await lab.runInside(argv, { deadlineMs: DEADLINE_MS })
  const reading = await lab.startInside([process.execPath, pageReader, stdout.trim()], log)
  const isOpen = async () => (await readFile(log, 'utf8')).includes('sample')
  await waitFor('the page', isOpen, { pollMs: 100, deadlineMs: DEADLINE_MS, signal })
  const open = await measureIdle(pids, bench)
  process.kill((await childPid(reading.pid)) ?? reading.pid, 'SIGTERM')
  await reading.exited
  const more = (name: string) => [(open[name]?.[0] ?? 0) - (idle[name]?.[0] ?? 0)]
  return { 'page-cpu': more('node-cpu'), 'page-memory': more('node-memory') }
}

/** What "up" has started and is no part of it; the agent is measured by itself. */
function isNoPartOfUp(name: string): boolean {
  return name.startsWith('containerd') || name === 'kubelet'
}

/** By kubectl, as people do it, until the API says that it is available. */
async function measureReady(lab: Lab, api: NodeApi, runs: number, signal: AbortSignal): Promise<readonly number[]> {
  const kubeconfig = `--kubeconfig=${lab.folder}/state/admin.kubeconfig`
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const name = `ready-${run}`
    const began = performance.now()
    const argv = ['create', 'deployment', name, `--image=${BUSYBOX_IMAGE}`, '--', 'sleep', '1000']
    const { exitCode, stderr } = await lab.runInside(['kubectl', kubeconfig, ...argv])
    if (exitCode !== 0) throw new Error(`Cannot create a deployment: ${stderr}`)
    const isReady = async () => isDone(await api.send<Deployment>('GET', `${DEPLOYMENTS}/${name}`), 1)
    await waitFor(name, isReady, { pollMs: 10, deadlineMs: DEADLINE_MS, signal })
    times.push((performance.now() - began) / 1000)
    await api.send('DELETE', `${DEPLOYMENTS}/${name}`)
  }
  return times
}

async function measureRollout(api: NodeApi, signal: AbortSignal): Promise<number> {
  const name = 'rolled'
  await api.send('POST', DEPLOYMENTS, deploymentOf(name, ROLLED))
  await waitForReady(api, [name], ROLLED, signal)
  const began = performance.now()
  const template = { metadata: { annotations: { version: '2' } } }
  await api.send('PATCH', `${DEPLOYMENTS}/${name}`, { spec: { template } })
  await waitForReady(api, [name], ROLLED, signal)
  return (performance.now() - began) / 1000
}
