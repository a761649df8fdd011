import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { childPid } from '../e2e/lab/lab-namespaces.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'
import type { Deployment } from '../../src/model/generated/api-groups.ts'
import { BUSYBOX_IMAGE } from '../../src/standalone/images/node-images.ts'
import { openAdminApi } from './admin-api.ts'
import type { AdminApi } from './admin-api.ts'
import { cpuSeconds, memoryUse } from './usage.ts'
import type { MemoryUse } from './usage.ts'
import { waitFor } from './wait.ts'

const SERVICES = 20
export const DEADLINE_MS = 240_000
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
export const CORE = '/api/v1/namespaces/default'
export const deckhand = fileURLToPath(new URL('../../bin/deckhand', import.meta.url))

/** Which node to start. */
interface NodeChoice {
  /** Of the program that starts it; our own if there is none. */
  readonly program?: string
  /** Below the folder of the lab. */
  readonly state?: string
}

export interface StandaloneNode extends AsyncDisposable {
  readonly api: AdminApi
  /** Of "up" and of the agent. */
  readonly pids: { readonly up: number; readonly agent: number }
}

/** Starts a standalone node in a lab, and waits until it is up. */
export async function startNode(
  lab: Lab,
  signal: AbortSignal,
  { program = deckhand, state: name = 'state' }: NodeChoice = {},
): Promise<StandaloneNode> {
  const [state, log] = [`${lab.folder}/${name}`, `${lab.folder}/${name}-${randomUUID()}.log`]
  const place = ['--state', state, '--cgroup-root', `${lab.cgroupRoot}/${name}`]
  const up = await lab.startInside([program, 'up', ...place], log)
  const output = async () => await readFile(log, 'utf8').catch(() => '')
  const isUp = async () => (await output()).includes('stop all')
  await waitFor('the node to be up', isUp, { pollMs: 50, deadlineMs: DEADLINE_MS, signal })
  const own = (await childPid(up.pid)) ?? up.pid
  const agent = await lab.outerPid(Number(/agent healthy \(pid (\d+)\)/.exec(await output())?.[1]))
  if (agent === undefined) throw new Error(`Cannot find the agent: ${await output()}`)
  const api = await openAdminApi(lab, `${state}/admin.kubeconfig`)
  return {
    api,
    pids: { up: own, agent },
    async [Symbol.asyncDispose]() {
      api.close()
      process.kill(own, 'SIGTERM')
      await up.exited
      await lab.runInside([program, 'down', '--state', state], { deadlineMs: DEADLINE_MS })
    },
  }
}

/** Starts about so many pods behind 20 Services, and waits for them. Gives the names of their Deployments. */
export async function startWeb(api: AdminApi, pods: number, signal: AbortSignal): Promise<readonly string[]> {
  const each = Math.max(1, Math.round(pods / SERVICES))
  const names = Array.from({ length: SERVICES }, (_, index) => `web-${index}`)
  for (const name of names) await createWeb(api, name, each)
  await waitForReady(api, names, each, signal)
  return names
}

export function deploymentOf(name: string, replicas: number) {
  const labels = { app: name }
  const command = ['sh', '-c', 'mkdir -p /tmp/w && echo ok > /tmp/w/index.html && exec httpd -f -p 8080 -h /tmp/w']
  const container = { name: 'main', image: BUSYBOX_IMAGE, imagePullPolicy: 'Never', command }
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers: [container] } }
  return { metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } }
}

async function createWeb(api: AdminApi, name: string, replicas: number): Promise<void> {
  await api.send('POST', DEPLOYMENTS, deploymentOf(name, replicas))
  const spec = { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] }
  await api.send('POST', `${CORE}/services`, { metadata: { name }, spec })
}

export async function waitForReady(api: AdminApi, names: readonly string[], replicas: number, signal: AbortSignal) {
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
export function isDone(deployment: Deployment | undefined, replicas: number): boolean {
  const { metadata, status = {} } = deployment ?? {}
  const counts = [status.replicas, status.updatedReplicas, status.availableReplicas].map((count) => count ?? 0)
  return status.observedGeneration === metadata?.generation && counts.every((count) => count === replicas)
}

interface NodeUse {
  readonly cpuSeconds: number
  readonly memory: MemoryUse
}

/** What the node uses: "up" with its API, controllers and page, and the agent; the runtime is no part of it. */
export async function readNodeUse({ up, agent }: StandaloneNode['pids']): Promise<NodeUse> {
  const [ofUp, ofAgent] = [await memoryUse(up, isNoPartOfUp), await memoryUse(agent)]
  return {
    cpuSeconds: (await cpuSeconds(up, isNoPartOfUp)) + (await cpuSeconds(agent)),
    memory: {
      pssMegabytes: ofUp.pssMegabytes + ofAgent.pssMegabytes,
      anonymousMegabytes: ofUp.anonymousMegabytes + ofAgent.anonymousMegabytes,
    },
  }
}

/** What "up" has started and is no part of it; the agent is measured by itself. */
function isNoPartOfUp(name: string): boolean {
  return name.startsWith('containerd') || name === 'kubelet'
}
