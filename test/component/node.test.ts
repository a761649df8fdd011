import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../src/base/async/clock.ts'
import { createNode } from '../../src/node/registration/create-node.ts'
import { readFileSystemSpace } from '../../src/system/files/file-system-space.ts'
import { readHugepages } from '../../src/system/machine/hardware/read-hugepages.ts'
import { readNodeAddress } from '../../src/system/machine/read-node-address.ts'
import { readNodeIdentity } from '../../src/system/machine/read-node-identity.ts'
import { readMachine } from '../../src/system/machine/read-machine.ts'
import { KubeApiError } from '../../src/protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../src/protocols/kube-api/kube-client.ts'
import type { DeviceInfo } from '../../src/node/registration/status/node-info.ts'
import type { Node } from '../../src/model/generated/core-v1.ts'
import type { Lease } from '../../src/node/registration/lease.ts'
import { HEADER, loadSettings } from '../fakes/load-settings.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import { startSecuredApi } from './api-server/start-secured-api.ts'
import type { SecuredApi } from './api-server/start-secured-api.ts'
import { ApiReturn } from '../../src/protocols/kube-api/list-watch/api-return.ts'

const NODE = '/api/v1/nodes/node-1'
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1'

/** The agent's part for the node, as a client of the real API with the rights of a node. */
async function startNode(t: TestContext, api: SecuredApi, rootDir: string) {
  const config = `${HEADER}nodeLeaseDurationSeconds: 1\nkubeReserved: {cpu: 100m}\nmaxPods: 17\n`
  const flags = [`--root-dir=${rootDir}`, '--node-labels=zone=a', '--kubeconfig=/k', '--config=/c']
  const settings = await loadSettings(flags, { '/c': config })
  const reported: string[] = []
  const answers: string[] = []
  let devices: DeviceInfo = { capacity: new Map(), allocatable: new Map(), areRecorded: false }
  let problems: readonly string[] = []
  let cached: Node | undefined
  const stop = new AbortController()
  const node = await createNode(
    {
      settings,
      machine: { ...readMachine(), onlineCpus: [0, 1], memoryBytes: 2n ** 30n },
      host: {
        identity: () => readNodeIdentity({ machineIdFiles: '/etc/machine-id', bootIdFiles: '' }),
        hugepages: () => readHugepages(),
        readAddress: (profile) => readNodeAddress(profile),
        readSpace: readFileSystemSpace,
      },
      cluster: {
        client: createClient(api, answers),
        cachedNode: () => cached,
        dropConnections: () => {},
        apiReturn: new ApiReturn(),
      },
      calls: {
        listImages: async () => ({ images: [] }),
        version: async () => ({
          version: '0.1.0',
          runtimeName: 'fake',
          runtimeVersion: '1.2.3',
          runtimeApiVersion: 'v1',
        }),
        updateRuntimeConfig: async () => ({}),
      },
      runtime: { name: 'fake', version: '1.2.3' },
      abilities: () => ({ handlers: [], features: undefined }),
      pressures: () => ({ memory: false, disk: false, pid: false }),
      problems: () => problems,
      volumesInUse: () => [],
      devices: () => devices,
      events: { record: ({ reason }) => void reported.push(reason) },
      clock: systemClock,
      log: silentLogger,
      random: Math.random,
    },
    stop.signal,
  )
  const running = node.run(stop.signal)
  const end = async () => {
    stop.abort(new Error('The test ends'))
    await running
  }
  t.after(end)
  return {
    reported,
    answers,
    end,
    ips: () => node.ips(),
    setProblems: (next: readonly string[]) => {
      problems = next
      node.wake()
    },
    setDevices: (capacity: number, allocatable: number) => {
      const counts = (count: number) => new Map([['example.com/gpu', count]])
      devices = { capacity: counts(capacity), allocatable: counts(allocatable), areRecorded: true }
      node.wake()
    },
    /** What a watch would deliver. */
    see: (next: Node | undefined) => {
      cached = next
      node.wake()
    },
  }
}

/** Keeps a journal of the answers. */
function createClient(api: SecuredApi, answers: string[]): KubeClient {
  return {
    async send<T>({ method, path, body, contentType = 'application/json' }: Parameters<KubeClient['send']>[0]) {
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

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await delay(10)
  }
}

describe('the node in its cluster', () => {
  test('registers, reports, renews its lease, is found again and is not made again', async (t) => {
    const api = await startSecuredApi(t)
    const rootDir = makeTemporaryFolder()
    const read = async <T>(path: string) => {
      const { status, body } = await api.call(api.admin, 'GET', path)
      return status === 200 ? (body as T) : undefined
    }
    const nodeWith = (fits: (node: Node) => boolean) =>
      until(async () => {
        const node = await read<Node>(NODE)
        return node !== undefined && fits(node) ? node : undefined
      })
    const ready = ({ status }: Node) => status?.conditions?.find(({ type }) => type === 'Ready')
    const agent = await startNode(t, api, rootDir)

    const made = await nodeWith(() => true)
    assert.deepEqual([ready(made)?.status, made.metadata?.labels?.['zone']], ['True', 'a'])
    assert.deepEqual([made.status?.capacity?.['cpu'], made.status?.allocatable?.['cpu']], ['2', '1900m'])
    assert.deepEqual(
      [made.status?.allocatable?.['pods'], made.status?.nodeInfo?.containerRuntimeVersion],
      ['17', 'fake://1.2.3'],
    )

    const lease = await until(() => read<Lease>(LEASE))
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: made.metadata?.uid }
    assert.deepEqual([lease.metadata?.ownerReferences, lease.spec?.holderIdentity], [[owner], 'node-1'])
    await until(async () => {
      const now = await read<Lease>(LEASE)
      return now?.spec?.renewTime !== lease.spec?.renewTime ? true : undefined
    })

    agent.setDevices(2, 1)
    const equipped = await nodeWith(({ status }) => status?.capacity?.['example.com/gpu'] === '2')
    assert.equal(equipped.status?.allocatable?.['example.com/gpu'], '1')

    agent.setProblems(['container runtime is down'])
    const broken = await nodeWith((node) => ready(node)?.status === 'False')
    assert.equal(ready(broken)?.message, 'container runtime is down')
    await until(async () => agent.reported.includes('NodeNotReady') || undefined)

    await agent.end()
    const patch = { metadata: { labels: { 'kubernetes.io/arch': 'odd', zone: 'b' } } }
    const type = { 'content-type': 'application/merge-patch+json' }
    assert.equal((await api.call({ ...api.admin, headers: type }, 'PATCH', NODE, patch)).status, 200)
    const second = await startNode(t, api, rootDir)
    const found = await nodeWith((node) => ready(node)?.status === 'True')
    assert.deepEqual(
      [found.metadata?.uid, found.metadata?.labels?.['kubernetes.io/arch'] === 'odd', found.metadata?.labels?.['zone']],
      [made.metadata?.uid, false, 'b'],
    )
    await until(async () => second.reported.includes('NodeReady') || undefined)
    assert.deepEqual(
      second.reported.filter((reason) => !reason.startsWith('NodeHas')),
      ['Starting', 'NodeReady'],
    )

    assert.equal((await api.call(api.admin, 'DELETE', NODE)).status, 200)
    second.see(undefined)
    second.setProblems(['x'])
    await until(async () => second.answers.includes(`GET ${NODE} 404`) || undefined)
    assert.equal(await read(NODE), undefined)
  })
  test('pods know it by the addresses that a cloud gave it, external ones too', async (t) => {
    const api = await startSecuredApi(t)
    const agent = await startNode(t, api, makeTemporaryFolder())
    const external = ['203.0.113.1', '2001:db8::9'].map((address) => ({ type: 'ExternalIP', address }))
    agent.see({ metadata: { name: 'node-1', resourceVersion: '1000' }, status: { addresses: external } })
    assert.deepEqual(agent.ips(), ['203.0.113.1', '2001:db8::9'])
  })
})
