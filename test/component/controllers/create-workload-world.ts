import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../src/base/async/clock.ts'
import type { Clock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { runControllers } from '../../../src/controllers/composition/run-controllers.ts'
import type { ControllersDeps } from '../../../src/controllers/composition/create-controllers.ts'
import { runScheduler } from '../../../src/controllers/scheduler/run-scheduler.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { call, watch } from '../api-server/api-client.ts'
import type { Answer } from '../api-server/api-client.ts'
import { createTestApi } from '../api-server/create-test-api.ts'
import type { TestApiOptions } from '../api-server/create-test-api.ts'
import { FakeKubeClient } from '../fake-kube-client.ts'

// Tests check the fields that they expect.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyObject = any

const NAMESPACE = '/namespaces/default'
const ROOTS: Readonly<Record<string, string>> = {
  pods: '/api/v1',
  events: '/api/v1',
  namespaces: '/api/v1',
  nodes: '/api/v1',
  services: '/api/v1',
  endpoints: '/api/v1',
  endpointslices: '/apis/discovery.k8s.io/v1',
  persistentvolumeclaims: '/api/v1',
  persistentvolumes: '/api/v1',
  storageclasses: '/apis/storage.k8s.io/v1',
  deployments: '/apis/apps/v1',
  replicasets: '/apis/apps/v1',
  daemonsets: '/apis/apps/v1',
  statefulsets: '/apis/apps/v1',
  controllerrevisions: '/apis/apps/v1',
  jobs: '/apis/batch/v1',
  cronjobs: '/apis/batch/v1',
  poddisruptionbudgets: '/apis/policy/v1',
  horizontalpodautoscalers: '/apis/autoscaling/v2',
  ingresses: '/apis/networking.k8s.io/v1',
  ingressclasses: '/apis/networking.k8s.io/v1',
  networkpolicies: '/apis/networking.k8s.io/v1',
  secrets: '/api/v1',
}

/** What a kubelet makes of a pod; undefined leaves it as it is. */
type Kubelet = (pod: AnyObject) => object | undefined

export const runningStatus = (pod: AnyObject): object => ({
  ...pod.status,
  phase: 'Running',
  startTime: new Date().toISOString(),
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() }],
})

/** The real API with the real controllers, and a kubelet that only writes statuses. */
export async function createWorkloadWorld(
  t: TestContext,
  options: {
    readonly clock?: Clock
    readonly api?: Partial<TestApiOptions>
    /** What parts of the node need: where volumes are, where names and Ingresses are served, how rules are written. */
    readonly parts?: Partial<Pick<ControllersDeps, 'folders' | 'ingress' | 'dns' | 'proxy' | 'policies'>>
    /** Whether the real scheduler gives pods their node, unless it is switched off; otherwise they get it unasked. */
    readonly hasScheduler?: boolean
    /** Parts that are switched off. */
    readonly without?: readonly string[]
  } = {},
) {
  const { clock = systemClock, parts, hasScheduler = false, without = [] } = options
  const server = await createTestApi({ folder: makeTemporaryFolder(), hasScheduler, ...options.api })
  const client = new FakeKubeClient(server.api)
  const over = new AbortController()
  let stop = new AbortController()
  const start = () => {
    stop = new AbortController()
    const deps = { client, nodeName: 'node-1', without, clock, random: Math.random, newUid: randomUUID }
    const log = silentLogger
    const scheduler = { ...deps, log, events: { record() {} } }
    const loops = [
      runControllers({ ...deps, ...parts, log }, stop.signal),
      ...(hasScheduler && !without.includes('scheduler') ? [runScheduler(scheduler, stop.signal)] : []),
    ]
    return Promise.all(loops).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error
    })
  }
  let running = start()
  const world = {
    client,
    api: server.api,
    /** Makes statuses of pods; a test may replace it. */
    kubelet: ((pod) => runningStatus(pod)) as Kubelet,
    /** Whether pods that are to be deleted go at once. */
    endsPods: true,
    /** The most pods at a time that were not being deleted. */
    peak: 0,
    async create(plural: string, object: AnyObject): Promise<AnyObject> {
      return expectGood(await call(server.api, 'POST', pathOf(plural), { body: object }))
    },
    async get(plural: string, name: string): Promise<AnyObject> {
      const answer = await call(server.api, 'GET', `${pathOf(plural)}/${name}`)
      return answer.status === 404 ? undefined : expectGood(answer)
    },
    async list(plural: string): Promise<readonly AnyObject[]> {
      return expectGood(await call(server.api, 'GET', pathOf(plural))).items
    },
    async patch(plural: string, name: string, body: object): Promise<AnyObject> {
      return expectGood(await call(server.api, 'PATCH:merge', `${pathOf(plural)}/${name}`, { body }))
    },
    async remove(plural: string, name: string, body: object = {}): Promise<AnyObject> {
      return expectGood(await call(server.api, 'DELETE', `${pathOf(plural)}/${name}`, { body }))
    },
    async events(reason: string): Promise<readonly string[]> {
      const all = await world.list('events')
      return all.filter((event) => event.reason === reason).map(({ message }) => message as string)
    },
    /** Waits until something holds; says what was there otherwise. */
    async until<T>(what: string, read: () => Promise<T>, holds: (value: T) => boolean, ms = 10_000): Promise<T> {
      const end = performance.now() + ms
      for (;;) {
        const value = await read()
        if (holds(value)) return value
        if (performance.now() > end) throw new Error(`${what}: ${JSON.stringify(value)}`)
        await sleep(10)
      }
    },
    /** Kills the controllers; restart() starts them again. */
    async pause() {
      stop.abort(new Error('pause'))
      await running
    },
    /** Kills the controllers and starts them again. */
    async restart() {
      stop.abort(new Error('restart'))
      await running
      running = start()
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('over'))
      over.abort(new Error('over'))
      await Promise.all([running, kubelet])
      await server[Symbol.asyncDispose]()
    },
  }
  const kubelet = actOnPods(server.api, world, over.signal, hasScheduler).catch((error: unknown) => {
    if (!over.signal.aborted) throw error
  })
  t.after(() => world[Symbol.asyncDispose]())
  return world
}

export type WorkloadWorld = Awaited<ReturnType<typeof createWorkloadWorld>>

function pathOf(plural: string): string {
  const isNamespaced = !['namespaces', 'nodes', 'persistentvolumes', 'storageclasses', 'ingressclasses'].includes(
    plural,
  )
  return `${ROOTS[plural]}${isNamespaced ? NAMESPACE : ''}/${plural}`
}

function expectGood(answer: Answer): AnyObject {
  if (answer.status >= 400) throw new Error(`${answer.status}: ${answer.body.message}`)
  return answer.body
}

async function actOnPods(
  api: Parameters<typeof call>[0],
  world: { readonly kubelet: Kubelet; readonly endsPods: boolean; peak: number },
  signal: AbortSignal,
  hasScheduler: boolean,
): Promise<void> {
  const alive = new Set<string>()
  for await (const { type, object: pod } of watch(api, '/api/v1/pods?watch=1', signal)) {
    const { name, uid, deletionTimestamp, finalizers = [] } = pod.metadata ?? {}
    if (type === 'DELETED' || deletionTimestamp !== undefined) alive.delete(uid)
    else alive.add(uid)
    world.peak = Math.max(world.peak, alive.size)
    if (type === 'DELETED') continue
    const path = `/api/v1${NAMESPACE}/pods/${name}`
    if (deletionTimestamp !== undefined) {
      if (world.endsPods && (pod.metadata.deletionGracePeriodSeconds > 0 || finalizers.length === 0))
        await call(api, 'DELETE', path, { body: { gracePeriodSeconds: 0 } })
      continue
    }
    if (pod.status?.phase !== 'Pending') continue
    if (!pod.spec.nodeName) {
      if (hasScheduler) continue
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { kind: 'Node', name: 'node-1' } }
      await call(api, 'POST', `${path}/binding`, { body })
      continue
    }
    const status = world.kubelet(pod)
    if (status !== undefined) await call(api, 'PATCH:merge', `${path}/status`, { body: { status } })
  }
}
