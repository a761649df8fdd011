import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { waitForShared } from '../../src/base/async/wait-for-shared.ts'
import { KubeApiError } from '../../src/protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../src/protocols/kube-api/kube-client.ts'
import type { Node } from '../../src/model/generated/core-v1.ts'
import type { Lease } from '../../src/node/registration/lease.ts'
import { FakeDevicePlugin } from '../fakes/fake-device-plugin.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import { startAgent } from './create-agent.ts'
import type { World } from './create-agent.ts'
import { createWorld } from './create-world.ts'
import { startSecuredApi } from './api-server/start-secured-api.ts'
import type { SecuredApi } from './api-server/start-secured-api.ts'
import { ApiReturn } from '../../src/protocols/kube-api/list-watch/api-return.ts'

// A call to the API, which is real, takes less time than the agent gives it.
const STEP_MS = 250
const NODE = '/api/v1/nodes/node-1'
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1'

/** An agent that reports its node to the real API, with the rights of a node. */
async function startNode(
  t: TestContext,
  api: SecuredApi,
  { world, root }: Machine,
  { gates, mayCreate = true }: { readonly gates?: string; readonly mayCreate?: boolean } = {},
) {
  const answers: string[] = []
  const listeners = new Set<() => void>()
  let cached: Node | undefined
  const agent = await startAgent(world, {
    sources: ['api'],
    root,
    loops: ['own node', 'CSINode', 'devices'],
    flags: ['--node-labels=zone=a', ...(gates === undefined ? [] : [`--feature-gates=${gates}`])],
    config: { nodeLeaseDurationSeconds: 1, kubeReserved: { cpu: '100m' } },
    allocatable: { cpu: '2', memory: '1Gi', pods: '17' },
    cluster: {
      client: createClient(api, { answers, mayCreate }),
      node: () => cached,
      onNode: (listener) => void listeners.add(listener),
      onApiReturn: () => {},
      apiReturn: new ApiReturn(),
      nodeSeen: async () => {},
      // No pod is bound to it.
      follow: async (_, signal) => await waitForShared(new Promise<never>(() => {}), signal),
    },
  })
  t.after(() => agent.leave())
  return {
    reported: agent.nodeEvents,
    answers,
    end: () => agent.leave(),
    ips: () => agent.kubelet.node.own.ips(),
    /** What a watch would deliver. */
    see: (next: Node | undefined) => {
      cached = next
      for (const listener of listeners) listener()
    },
  }
}

interface Machine {
  readonly world: World
  readonly root: string
}

async function createMachine(t: TestContext) {
  const world = await createWorld({ version: { name: 'fake', version: '1.2.3' } })
  t.after(() => world[Symbol.asyncDispose]())
  const root = makeTemporaryFolder()
  const folder = join(root, 'device-plugins')
  mkdirSync(folder)
  return { world, root, folder }
}

/** Keeps a journal of the answers. */
function createClient(
  api: SecuredApi,
  { answers, mayCreate }: { readonly answers: string[]; readonly mayCreate: boolean },
): KubeClient {
  return {
    async send<T>({ method, path, body, contentType = 'application/json' }: Parameters<KubeClient['send']>[0]) {
      if (!mayCreate && method === 'POST' && path === '/api/v1/nodes') {
        answers.push(`POST ${path} 403`)
        throw new KubeApiError('nodes is forbidden', { code: 403, reason: 'Forbidden' })
      }
      const secrets = { ...api.node, headers: { 'content-type': contentType } }
      const answer = await api.call(secrets, method, path, body as object | undefined)
      answers.push(`${method} ${path} ${answer.status}`)
      if (answer.status < 300) return answer.body as T
      const { message, reason } = answer.body
      throw new KubeApiError(String(message), { code: answer.status, reason: String(reason) })
    },
    watch: () => assert.fail('there is no watch here'),
  }
}

/** Time passes meanwhile; also that of the API, which is real. */
async function until<T>({ clock }: World, find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    await clock.advance(STEP_MS)
    await delay(10)
  }
}

describe('the node in its cluster', () => {
  test('registers, reports, renews its lease, is found again and is not made again', async (t) => {
    const api = await startSecuredApi(t)
    const machine = await createMachine(t)
    const { world, folder } = machine
    const read = async <T>(path: string) => {
      const { status, body } = await api.call(api.admin, 'GET', path)
      return status === 200 ? (body as T) : undefined
    }
    const nodeWith = (fits: (node: Node) => boolean) =>
      until(world, async () => {
        const node = await read<Node>(NODE)
        return node !== undefined && fits(node) ? node : undefined
      })
    const ready = ({ status }: Node) => status?.conditions?.find(({ type }) => type === 'Ready')
    const agent = await startNode(t, api, machine)

    const first = await nodeWith(() => true)
    assert.equal(ready(first)?.message, 'CSINode is not yet initialized', 'its drivers cannot be known before it is')
    const made = await nodeWith((node) => ready(node)?.status === 'True')
    assert.deepEqual([made.metadata?.uid, made.metadata?.labels?.['zone']], [first.metadata?.uid, 'a'])
    assert.deepEqual([made.status?.capacity?.['cpu'], made.status?.allocatable?.['cpu']], ['2', '1900m'])
    assert.deepEqual(
      [made.status?.allocatable?.['pods'], made.status?.nodeInfo?.containerRuntimeVersion],
      ['17', 'fake://1.2.3'],
    )

    const lease = await until(world, () => read<Lease>(LEASE))
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: made.metadata?.uid }
    assert.deepEqual([lease.metadata?.ownerReferences, lease.spec?.holderIdentity], [[owner], 'node-1'])
    await until(world, async () => {
      const now = await read<Lease>(LEASE)
      return now?.spec?.renewTime !== lease.spec?.renewTime ? true : undefined
    })

    using plugin = await FakeDevicePlugin.start({ folder, resource: 'example.com/gpu', ids: ['a', 'b'] })
    await plugin.register()
    plugin.setDevices([{ id: 'a' }, { id: 'b', health: 'Unhealthy' }])
    const equipped = await nodeWith(({ status }) => status?.capacity?.['example.com/gpu'] === '2')
    assert.equal(equipped.status?.allocatable?.['example.com/gpu'], '1')

    world.cri.stopListening()
    const broken = await nodeWith((node) => ready(node)?.status === 'False')
    assert.equal(ready(broken)?.message, 'container runtime is down')
    await until(world, async () => agent.reported.includes('NodeNotReady') || undefined)

    await agent.end()
    const patch = { metadata: { labels: { 'kubernetes.io/arch': 'odd', zone: 'b' } } }
    const type = { 'content-type': 'application/merge-patch+json' }
    assert.equal((await api.call({ ...api.admin, headers: type }, 'PATCH', NODE, patch)).status, 200)
    await world.cri.listen()
    const second = await startNode(t, api, machine)
    const found = await nodeWith((node) => ready(node)?.status === 'True')
    assert.deepEqual(
      [found.metadata?.uid, found.metadata?.labels?.['kubernetes.io/arch'] === 'odd', found.metadata?.labels?.['zone']],
      [made.metadata?.uid, false, 'b'],
    )
    await until(world, async () => second.reported.includes('NodeReady') || undefined)
    assert.deepEqual(
      second.reported.filter((reason) => !reason.startsWith('NodeHas')),
      ['Starting', 'NodeReady'],
    )

    assert.equal((await api.call(api.admin, 'DELETE', NODE)).status, 200)
    second.see(undefined)
    world.cri.stopListening()
    await until(world, async () => second.answers.includes(`GET ${NODE} 404`) || undefined)
    assert.equal(await read(NODE), undefined)
  })
  for (const isOnlyIfExists of [false, true])
    test(`that may not be made is ${isOnlyIfExists ? 'not looked for behind the gate KubeletRegistrationGetOnExistsOnly' : 'taken when it is there'}`, async (t) => {
      const api = await startSecuredApi(t)
      const machine = await createMachine(t)
      const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } }
      assert.equal((await api.call(api.admin, 'POST', '/api/v1/nodes', body)).status, 201)
      const gates = `KubeletRegistrationGetOnExistsOnly=${isOnlyIfExists}`
      const { answers } = await startNode(t, api, machine, { gates, mayCreate: false })
      const tries = () => answers.filter((answer) => answer === 'POST /api/v1/nodes 403').length
      const isTaken = () => answers.includes(`PATCH ${NODE}/status 200`)
      await until(machine.world, async () => tries() > 3 || isTaken() || undefined)
      assert.equal(isTaken(), !isOnlyIfExists)
    })

  test('pods know it by the addresses that a cloud gave it, external ones too', async (t) => {
    const api = await startSecuredApi(t)
    const agent = await startNode(t, api, await createMachine(t))
    const external = ['203.0.113.1', '2001:db8::9'].map((address) => ({ type: 'ExternalIP', address }))
    agent.see({ metadata: { name: 'node-1', resourceVersion: '1000' }, status: { addresses: external } })
    assert.deepEqual(agent.ips(), ['203.0.113.1', '2001:db8::9'])
  })
})
