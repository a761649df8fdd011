import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:http2'
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { fileURLToPath } from 'node:url'
import type { Lab } from '../e2e/lab/start-lab.ts'
import { childPid } from '../e2e/lab/lab-namespaces.ts'
import type { PodList } from '../../src/model/generated/core-v1.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
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
  async measure({ lab, binary, signal }: Bench): Promise<Samples> {
    // The API is that of our own node.
    if (binary !== undefined) return {}
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

interface Api {
  send<T>(method: string, path: string, body?: object): Promise<T>
}

async function startNode(lab: Lab, signal: AbortSignal): Promise<AsyncDisposable & { readonly api: Api }> {
  const [state, log] = [`${lab.folder}/state`, `${lab.folder}/up.log`]
  const place = ['--state', state, '--runtime', lab.runtime.endpoint, '--cgroup-root', `${lab.cgroupRoot}/node`]
  const up = await lab.startInside([deckhand, 'up', ...place], log)
  const output = async () => await readFile(log, 'utf8').catch(() => '')
  const isUp = async () => (await output()).includes('stop all')
  await waitFor('the node to be up', isUp, { pollMs: 50, deadlineMs: DEADLINE_MS, signal })
  const session = await connectTo(lab, await readFile(`${state}/admin.kubeconfig`, 'utf8'))
  return {
    api: { send: (method, path, body) => send(session, { method, path, body }) },
    async [Symbol.asyncDispose]() {
      session.destroy()
      process.kill((await childPid(up.pid)) ?? up.pid, 'SIGTERM')
      await up.exited
    },
  }
}

async function connectTo(lab: Lab, kubeconfig: string): Promise<ClientHttp2Session> {
  const find = (name: string) => new RegExp(`${name}: (\\S+)`).exec(kubeconfig)?.[1] ?? ''
  const decode = (name: string) => Buffer.from(find(name), 'base64').toString('utf8')
  const server = new URL(find('server'))
  const secure = connectTls({
    socket: lab.network.connect(server.hostname, Number(server.port)),
    ca: decode('certificate-authority-data'),
    cert: decode('client-certificate-data'),
    key: decode('client-key-data'),
    servername: 'localhost',
    ALPNProtocols: ['h2'],
  })
  await once(secure, 'secureConnect')
  const session = connect(server.origin, { createConnection: () => secure })
  session.on('error', () => {})
  return session
}

async function send<T>(
  session: ClientHttp2Session,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body: object | undefined },
): Promise<T> {
  const stream = session.request({ ':method': method, ':path': path })
  stream.end(body === undefined ? undefined : JSON.stringify(body))
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  const text = Buffer.concat(await stream.toArray()).toString('utf8')
  if (Number(headers[':status']) >= 300) throw new Error(`Cannot ${method} "${path}": ${text}`)
  return JSON.parse(text) as T
}

/** Pods from one number up to another, some at a time. */
async function churn(api: Api, from: number, to: number, signal: AbortSignal): Promise<void> {
  for (let first = from; first < to; first += AT_ONCE) {
    const names = Array.from({ length: AT_ONCE }, (_, index) => `churn-${first + index}`)
    await Promise.all(names.map((name) => create(api, name)))
    await waitForPods(api, 'to be Ready', (pods) => pods.filter(isReady).length === AT_ONCE, signal)
    await Promise.all(names.map((name) => remove(api, name)))
    await waitForPods(api, 'to be gone', (pods) => pods.length === 0, signal)
  }
}

async function create(api: Api, name: string): Promise<void> {
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

async function remove(api: Api, name: string): Promise<void> {
  await api.send('DELETE', `${NAMESPACE}/pods/${name}`)
  await api.send('DELETE', `${NAMESPACE}/configmaps/${name}`)
}

async function waitForPods(
  api: Api,
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
