import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Lab } from '../e2e/lab/start-lab.ts'
import type { Deployment } from '../../src/model/generated/api-groups.ts'
import type { PodList, Service } from '../../src/model/generated/core-v1.ts'
import { BUSYBOX_IMAGE } from '../../src/standalone/images/node-images.ts'
import type { AdminApi } from './admin-api.ts'
import type { Samples } from './rows.ts'
import type { Bench, Scenario } from './scenario.ts'
import {
  CORE,
  DEADLINE_MS,
  deploymentOf,
  DEPLOYMENTS,
  isDone,
  readNodeUse,
  startNode,
  startWeb,
  waitForReady,
} from './standalone-node.ts'
import type { StandaloneNode } from './standalone-node.ts'
import { waitFor } from './wait.ts'

const ROLLED = 50
const REQUESTS = 500
const DNS_SECONDS = 5
const SETTLE_MS = 60_000
const client = fileURLToPath(new URL('traffic-client.ts', import.meta.url))

/** The whole standalone node: its API, controllers, DNS and agent. */
export const standaloneScenario: Scenario = {
  name: 'standalone',
  rows: ['node-memory', 'node-cpu', 'request-service', 'request-direct', 'dns-answers', 'deployment-ready', 'rollout'],
  isOwn: true,
  async measure(bench: Bench): Promise<Samples> {
    const { lab, pods, runs, signal } = bench
    await using node = await startNode(lab, signal)
    const { api } = node
    const names = await startWeb(api, pods, signal)
    const traffic = await measureTraffic(lab, api)
    await sleep(SETTLE_MS, undefined, { signal })
    const idle = await measureIdle(node.pids, bench)
    for (const name of names) await api.send('PATCH', `${DEPLOYMENTS}/${name}`, { spec: { replicas: 0 } })
    await waitForReady(api, names, 0, signal)
    const ready = await measureReady(lab, api, runs, signal)
    return { ...traffic, ...idle, 'deployment-ready': ready, rollout: [await measureRollout(api, signal)] }
  },
}

async function measureTraffic(lab: Lab, api: AdminApi): Promise<Samples> {
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

async function measureIdle(pids: StandaloneNode['pids'], { steadyMs, signal }: Bench): Promise<Samples> {
  const [before, began] = [await readNodeUse(pids), performance.now()]
  await sleep(steadyMs, undefined, { signal })
  const after = await readNodeUse(pids)
  const seconds = (performance.now() - began) / 1000
  return {
    'node-cpu': [((after.cpuSeconds - before.cpuSeconds) / seconds) * 100],
    'node-memory': [after.memory.pssMegabytes],
  }
}

/** By kubectl, as people do it, until the API says that it is available. */
async function measureReady(lab: Lab, api: AdminApi, runs: number, signal: AbortSignal): Promise<readonly number[]> {
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

async function measureRollout(api: AdminApi, signal: AbortSignal): Promise<number> {
  const name = 'rolled'
  await api.send('POST', DEPLOYMENTS, deploymentOf(name, ROLLED))
  await waitForReady(api, [name], ROLLED, signal)
  const began = performance.now()
  const template = { metadata: { annotations: { version: '2' } } }
  await api.send('PATCH', `${DEPLOYMENTS}/${name}`, { spec: { template } })
  await waitForReady(api, [name], ROLLED, signal)
  return (performance.now() - began) / 1000
}
