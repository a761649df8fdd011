import { setImmediate } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { admitChange } from '../../src/api-server/auth/admit-change.ts'
import { admitMirrorPod } from '../../src/api-server/auth/admit-mirror-pod.ts'
import { createObjectReader } from '../../src/api-server/kinds/object-reader.ts'
import type { Node, Pod as ApiPod, PodSpec, PodStatus } from '../../src/model/generated/core-v1.ts'
import type { Pod, PodUid } from '../../src/model/pod/pod.ts'
import type { FollowedObjects } from '../../src/pods/sources/run-api-source.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import { call } from './api-server/api-client.ts'
import type { CallOptions } from './api-server/api-client.ts'
import { createTestApi } from './api-server/create-test-api.ts'
import { startAgent } from './create-agent.ts'
import type { AgentOptions, World } from './create-agent.ts'
import { FakeKubeClient } from './fake-kube-client.ts'
import { ApiReturn } from '../../src/protocols/kube-api/list-watch/api-return.ts'

const PODS = '/api/v1/namespaces/shop/pods'
/** The loops that find CSI drivers and report them to the cluster. */
export const CSI_LOOPS = ['plugins', 'CSI drivers', 'CSINode', 'volumes of CSI drivers']
const RETRY_MS = 1000
const QUIET_TURNS = 3

export type Cluster = Awaited<ReturnType<typeof createCluster>>

/** The real API with one node, "node-1", and the namespace "shop". */
export async function createCluster(t: TestContext, world: Pick<World, 'clock'>) {
  const test = await createTestApi({
    folder: makeTemporaryFolder(),
    clock: world.clock,
    admit: (user, change, view) => admitChange(user, change, { objects: createObjectReader(view) }),
    admitNew: (user, resource, object, signal) =>
      admitMirrorPod(user, resource, object, { staticPods: undefined, clock: world.clock }, signal),
  })
  t.after(() => test[Symbol.asyncDispose]())
  const ask = async (method: string, path: string, options: CallOptions = {}) =>
    await call(test.api, method, path, options)
  await ask('POST', '/api/v1/namespaces', { body: { metadata: { name: 'shop' } } })
  const node = await ask('POST', '/api/v1/nodes', { body: { metadata: { name: 'node-1' } } })
  const nodeUid = (node.body as { metadata: { uid: string } }).metadata.uid
  let own: Node = { metadata: { name: 'node-1', uid: nodeUid } }
  const nodeListeners = new Set<() => void>()
  /** What a watch delivers. */
  const seeNode = (node: Node): void => {
    own = node
    for (const listener of nodeListeners) listener()
  }
  return {
    client: new FakeKubeClient(test.api),
    nodeUid,
    ask,
    /** The Node as the agent's watch has it. */
    node: () => own,
    onNode: (listener: () => void) => void nodeListeners.add(listener),
    seeNode,
    /** The Node gets other labels, and the watch reports it. */
    labelNode: (labels: Readonly<Record<string, string>>) => seeNode({ metadata: { ...own.metadata, labels } }),
    /** A pod that the scheduler bound to the node. */
    async create(name: string, spec: Partial<PodSpec> = {}): Promise<PodUid> {
      const containers = [{ name: 'main', image: 'registry.test/app:1', imagePullPolicy: 'IfNotPresent' }]
      const body = {
        metadata: { name },
        spec: { dnsPolicy: 'Default', automountServiceAccountToken: false, containers, ...spec },
      }
      const answer = await ask('POST', PODS, { body })
      if (answer.status !== 201) throw new Error(`Cannot create the pod: ${JSON.stringify(answer.body)}`)
      return (answer.body as { metadata: { uid: PodUid } }).metadata.uid
    },
    async get(name: string): Promise<(ApiPod & { metadata: Pod['metadata']; status: PodStatus }) | undefined> {
      const answer = await ask('GET', `${PODS}/${name}`)
      return answer.status === 200 ? answer.body : undefined
    },
    async delete(name: string, options: object = {}): Promise<void> {
      await ask('DELETE', `${PODS}/${name}`, { body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options } })
    },
  }
}

/** An agent whose pods come from the API too, and whose statuses go there. */
export async function joinCluster(world: World, cluster: Cluster, options: AgentOptions = {}) {
  const { clock } = world
  const { client } = cluster
  const apiReturn = new ApiReturn()
  const agent = await startAgent(world, {
    sources: ['file', 'api'],
    ...options,
    cluster: {
      client,
      node: cluster.node,
      onNode: cluster.onNode,
      onApiReturn: (listener) => apiReturn.onReached(listener),
      apiReturn,
      nodeSeen: async () => {},
      follow: (objects, signal) => follow({ client, clock }, objects, signal),
    },
  })
  const { clusterPods } = agent.kubelet.sources
  if (clusterPods === undefined) throw new Error('Cannot join the cluster: the agent has no part for its pods')
  const { writer, mirrors } = clusterPods
  const settle = async () => {
    let before = ''
    for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
      await agent.settle()
      await setImmediate()
      const now = `${client.sent.length} ${client.underWay} ${world.cri.called.length}`
      if (now !== before) turns = 0
      before = now
    }
  }
  return {
    ...agent,
    writer,
    mirrors,
    /** Some client of the agent got a good answer. */
    apiAnswers: () => apiReturn.reached(),
    settle,
    async pass(ms: number, step = 1000) {
      await settle()
      for (let left = ms; left > 0; left -= step) {
        await clock.advance(Math.min(step, left))
        await settle()
      }
    },
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  }
}

/** Lists and watches; whatever breaks is begun again after a while. */
async function follow(
  { client, clock }: Pick<World, 'clock'> & Pick<Cluster, 'client'>,
  { path, query, onReplace, onEvent }: FollowedObjects,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      const list = await client.send<{ items: unknown[]; metadata: { resourceVersion: string } }>(
        { method: 'GET', path, query },
        signal,
      )
      const { resourceVersion } = list.metadata
      onReplace(list.items, resourceVersion)
      for await (const { type, object } of client.watch(
        { path, query: { ...query, watch: '1', resourceVersion } },
        signal,
      ))
        if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') onEvent({ type, object })
    } catch {
      signal.throwIfAborted()
    }
    await clock.sleep(RETRY_MS, signal)
  }
}
