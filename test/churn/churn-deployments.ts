import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import type { Deployment, ReplicaSet } from '../../src/model/generated/api-groups.ts'
import type { Pod } from '../../src/model/generated/core-v1.ts'
import { KubeApiError, KubeUnreachableError } from '../../src/protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../src/protocols/kube-api/kube-client.ts'
import { openClient } from '../../src/standalone/node/api/open-client.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import { registerNode, runChurnNode } from './churn-node.ts'
import { computeChurnProblems } from './compute-churn-problems.ts'

const CHILD = fileURLToPath(new URL('control-plane-child.ts', import.meta.url))
const APPS = '/apis/apps/v1/namespaces/default'
const MERGE = 'application/merge-patch+json' as const
const MOST_REPLICAS = 5
/** Users between two changes, and killers between two kills. */
const PAUSE_MS = 80
const KILL_MS = { least: 3000, more: 9000 }
const SETTLE_MS = 180_000
/** Nothing may happen any more in this time. */
const SETTLED_MS = 4000

export interface ChurnOptions {
  readonly minutes: number
  readonly deployments: number
  readonly seed: number
}

/** Returns what is wrong at the end: nothing, when every Deployment has exactly its pods. */
export async function churnDeployments({ minutes, deployments, seed }: ChurnOptions): Promise<readonly string[]> {
  console.log(`${deployments} Deployments scaled and rolled at random for ${minutes} min, API and controllers killed`)
  const random = createRandom(seed)
  const plane = await startControlPlane(random)
  const stop = new AbortController()
  await using tasks = new TaskGroup(stop.signal)
  try {
    const client = await openClient(random, `${plane.folder}/admin`, tasks)
    await registerNode(client, stop.signal)
    const node = runChurnNode(client, random, stop.signal)
    const names = Array.from({ length: deployments }, (_, index) => `web-${index}`)
    const users = new Users(client, random)
    for (const name of names) await users.create(name)
    const end = performance.now() + minutes * 60_000
    const killing = plane.kill(() => performance.now() < end)
    while (performance.now() < end) {
      await users.act(names[Math.floor(random() * names.length)] ?? '')
      await sleep(random() * 2 * PAUSE_MS)
    }
    const kills = await killing
    console.log(`${users.done} changes (${users.failed} failed while the API was away), ${kills} kills; settling`)
    const problems = await settle(client, users, names)
    stop.abort(new Error('over'))
    await node
    return problems
  } finally {
    stop.abort(new Error('over'))
    await plane.stop()
  }
}

/** Those who change Deployments; what the API has acknowledged is remembered. */
class Users {
  readonly wanted = new Map<string, { readonly replicas: number; readonly version: string }>()
  /** Whose last change may or may not have been done. */
  readonly unsure = new Set<string>()
  done = 0
  failed = 0
  readonly #client: KubeClient
  readonly #random: () => number

  constructor(client: KubeClient, random: () => number) {
    this.#client = client
    this.#random = random
  }

  async create(name: string): Promise<void> {
    const replicas = this.#size()
    const labels = { app: name }
    const spec = {
      replicas,
      revisionHistoryLimit: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { version: '0' } },
        spec: { containers: [{ name: 'main', image: 'deckhand.local/busybox:1' }] },
      },
    }
    for (;;) {
      try {
        await this.#send('POST', `${APPS}/deployments`, { metadata: { name }, spec })
        break
      } catch (error) {
        // An answer that did not come in time may have been one all the same.
        if (error instanceof KubeApiError && error.reason === 'AlreadyExists') break
        if (!(error instanceof KubeUnreachableError)) throw error
      }
    }
    this.wanted.set(name, { replicas, version: '0' })
  }

  /** Scales, rolls, or deletes a pod. */
  async act(name: string): Promise<void> {
    const before = this.wanted.get(name) ?? { replicas: 0, version: '0' }
    const what = this.#random()
    if (what < 0.15) return await this.#deletePod(name)
    const next =
      what < 0.55 ? { ...before, replicas: this.#size() } : { ...before, version: String(Number(before.version) + 1) }
    const annotations = { version: next.version }
    const spec = { replicas: next.replicas, template: { metadata: { annotations } } }
    try {
      await this.#send('PATCH', `${APPS}/deployments/${name}`, { spec })
      this.wanted.set(name, next)
      this.unsure.delete(name)
      this.done += 1
    } catch {
      this.unsure.add(name)
      this.failed += 1
    }
  }

  async #deletePod(name: string): Promise<void> {
    try {
      const path = `/api/v1/namespaces/default/pods?labelSelector=app%3D${name}`
      const { items } = await this.#send<{ readonly items: readonly Pod[] }>('GET', path)
      const pod = items[Math.floor(this.#random() * items.length)]?.metadata?.name
      if (pod !== undefined) await this.#send('DELETE', `/api/v1/namespaces/default/pods/${pod}`)
      this.done += 1
    } catch {
      this.failed += 1
    }
  }

  #size(): number {
    return Math.floor(this.#random() * (MOST_REPLICAS + 1))
  }

  #send<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<T> {
    const request = {
      method,
      path,
      timeoutMs: 5000,
      ...(method === 'PATCH' && { contentType: MERGE }),
      ...(body && { body }),
    }
    return this.#client.send<T>(request, new AbortController().signal)
  }
}

/** Waits until all is right, and that it stays so; returns what is not. */
async function settle(client: KubeClient, users: Users, names: readonly string[]): Promise<readonly string[]> {
  const never = new AbortController().signal
  const list = async <T>(path: string) =>
    (await client.send<{ readonly items: readonly T[] }>({ method: 'GET', path }, never)).items
  const judge = async () =>
    computeChurnProblems({
      names,
      wanted: users.wanted,
      unsure: users.unsure,
      deployments: await list<Deployment>(`${APPS}/deployments`),
      sets: await list<ReplicaSet>(`${APPS}/replicasets`),
      pods: await list<Pod>('/api/v1/namespaces/default/pods'),
    })
  const end = performance.now() + SETTLE_MS
  for (;;) {
    const problems = await judge()
    if (problems.length === 0) break
    if (performance.now() > end) return problems
    await sleep(500)
  }
  await sleep(SETTLED_MS)
  return await judge()
}

/** An API and controllers as processes of their own. */
async function startControlPlane(random: () => number) {
  const folder = makeTemporaryFolder()
  const port = String(await findPort())
  const children = new Map<string, ChildProcess>()
  const start = async (role: string): Promise<void> => {
    const child = spawn(process.execPath, [CHILD, role, folder, port], { stdio: ['ignore', 'pipe', 'inherit'] })
    children.set(role, child)
    await once(createInterface(child.stdout), 'line')
  }
  const end = async (role: string) => {
    const child = children.get(role)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await start('api')
  await start('controllers')
  return {
    folder,
    /** Returns how often. */
    async kill(goesOn: () => boolean): Promise<number> {
      let kills = 0
      while (goesOn()) {
        await sleep(KILL_MS.least + random() * KILL_MS.more)
        const what = random()
        const roles = what < 0.4 ? ['api'] : what < 0.8 ? ['controllers'] : ['api', 'controllers']
        for (const role of roles) await end(role)
        await sleep(random() * 1500)
        for (const role of roles) await start(role)
        kills += roles.length
      }
      return kills
    },
    async stop() {
      for (const role of children.keys()) await end(role)
    },
  }
}

async function findPort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The same numbers for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}
