import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { createControllers } from '../../../src/controllers/composition/create-controllers.ts'
import { ApiObjects } from '../../../src/controllers/engine/api-objects.ts'
import { ApiReturn } from '../../../src/protocols/kube-api/list-watch/api-return.ts'
import { findIngressRefusal } from '../../../src/standalone/node/network/ingress-refusal.ts'
import { computePolicyRefusal } from '../../../src/standalone/node/network/policy-refusal.ts'
import { SWITCHABLE_PARTS, switchedOff } from '../../../src/standalone/node/switchable-parts.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { call } from '../api-server/api-client.ts'
import { createTestApi } from '../api-server/create-test-api.ts'
import { createFastClock } from '../../fakes/fast-clock.ts'
import { FakeKubeClient } from '../fake-kube-client.ts'
import { createWorkloadWorld } from './create-workload-world.ts'
import type { AnyObject, WorkloadWorld } from './create-workload-world.ts'

const labels = { app: 'x' }
const selector = { matchLabels: labels }
const podSpec = { containers: [{ name: 'c', image: 'i' }] }
const workload = { selector, template: { metadata: { labels }, spec: podSpec } }
const runsJob = { template: { spec: { ...podSpec, restartPolicy: 'Never' } } }
const folders = { root: '/volumes', make: async () => {}, remove: async () => {}, list: async () => [] }

/** What the parts have made outside of the API. */
class Machine {
  /** Tables of rules that were written. */
  readonly tables = new Set<string>()
  servesNames = false
  servesIngresses = false

  /** What the node gives to its controllers, as "up" with these parts left out decides. */
  partsWithout(without: readonly string[]) {
    const rules = {
      apply: async (text: string) => {
        for (const [, table = ''] of text.matchAll(/table inet (\S+)/gv)) this.tables.add(table)
      },
      namesIn: async () => undefined,
      rulesOf: async () => '',
      remove: async () => {},
      watchDeletions: async (_: unknown, signal: AbortSignal) => {
        await once(signal, 'abort')
        signal.throwIfAborted()
      },
    }
    const ports = { http: 0, https: undefined }
    const refusals = {
      policies: computePolicyRefusal({ without, runtime: undefined, nftProblem: undefined, seesBridge: true }),
      ingress: findIngressRefusal({ ingressPorts: ports, without }),
    }
    const served = { ports, onPorts: () => void (this.servesIngresses = true) }
    const enforced = { table: 'policies', network: { bridge: 'br', dnsAddresses: [] }, ensureBridgeIsSeen: () => false }
    return {
      folders,
      dns: {
        address: '127.0.0.1',
        port: 0,
        domain: 'cluster.local',
        ranges: ['10.0.0.0/16'],
        servers: async () => [],
        onReady: () => void (this.servesNames = true),
      },
      proxy: {
        place: { table: 'services', rules },
        network: { serviceRanges: ['10.0.0.0/16'], podRanges: ['10.1.0.0/16'], seesBridge: true },
        flows: { listUdp: async () => [], forget: async () => {} },
        ensureBridgeIsSeen: () => false,
      },
      ingress: refusals.ingress === undefined ? served : { refusal: refusals.ingress },
      policies: refusals.policies === undefined ? { ...enforced, rules } : { refusal: refusals.policies },
    }
  }
}

interface Row {
  readonly part: string
  readonly plural: string
  readonly spec: AnyObject
  /** Other parts that it is nothing without. */
  readonly needs?: readonly string[]
  /** Everything that its part does: all of it is seen in the end, or nothing ever. */
  readonly signs: (object: AnyObject, world: WorkloadWorld, machine: Machine) => Promise<readonly boolean[]>
}

const observed = async ({ status }: AnyObject) => [status?.observedGeneration === 1]

const rows: readonly Row[] = [
  { part: 'deployments', plural: 'deployments', spec: workload, signs: observed },
  { part: 'deployments', plural: 'replicasets', spec: workload, signs: observed },
  { part: 'daemonsets', plural: 'daemonsets', spec: workload, signs: observed },
  { part: 'statefulsets', plural: 'statefulsets', spec: { ...workload, serviceName: 'x' }, signs: observed },
  { part: 'budgets', plural: 'poddisruptionbudgets', spec: { selector, minAvailable: 1 }, signs: observed },
  {
    part: 'autoscalers',
    plural: 'horizontalpodautoscalers',
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' }, maxReplicas: 2 },
    signs: async ({ status }) => [(status?.conditions ?? []).length > 0],
  },
  { part: 'jobs', plural: 'jobs', spec: runsJob, signs: async ({ status }) => [status?.startTime !== undefined] },
  {
    part: 'services',
    plural: 'services',
    spec: { selector: labels, ports: [{ port: 80 }] },
    signs: async (_, world, { tables }) => {
      const slices = await world.list('endpointslices')
      const isKnown = slices.some(({ metadata }) => metadata.labels['kubernetes.io/service-name'] === 'x')
      return [isKnown, tables.has('services')]
    },
  },
  {
    part: 'storage',
    plural: 'persistentvolumeclaims',
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'now', resources: { requests: { storage: '1Mi' } } },
    signs: async ({ status }) => [status?.phase === 'Bound'],
  },
  {
    part: 'dns',
    plural: 'namespaces',
    spec: {},
    signs: async (_, _world, { servesNames }) => [servesNames],
  },
  {
    part: 'ingress',
    plural: 'ingresses',
    spec: { ingressClassName: 'deckhand', defaultBackend: { service: { name: 'x', port: { number: 80 } } } },
    needs: ['services'],
    signs: async ({ status }, _, { servesIngresses }) => [
      servesIngresses,
      (status?.loadBalancer?.ingress ?? []).length > 0,
    ],
  },
  {
    part: 'policies',
    plural: 'networkpolicies',
    spec: { podSelector: {} },
    signs: async (_, _world, { tables }) => [tables.has('policies')],
  },
  {
    part: 'taints',
    // Another node than that of all the others.
    plural: 'nodes',
    spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] },
    signs: async (_, world) => [(await world.get('pods', 'on-x')) === undefined],
  },
  {
    part: 'scheduler',
    plural: 'pods',
    spec: podSpec,
    signs: async ({ spec, status }) => [spec.nodeName === 'node-1', (status?.conditions ?? []).length > 0],
  },
]

/** With an object for each row. */
async function createWorld(t: TestContext, without: readonly string[]) {
  const machine = new Machine()
  const parts = machine.partsWithout(without)
  const world = await createWorkloadWorld(t, { without, parts, hasScheduler: true, clock: createFastClock() })
  const status = { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }], allocatable: { pods: '110' } }
  await world.create('nodes', { metadata: { name: 'node-1' }, status })
  const storageClass = { provisioner: 'deckhand.local/folder', volumeBindingMode: 'Immediate' }
  await world.create('storageclasses', { metadata: { name: 'now' }, ...storageClass })
  const ingressClass = { metadata: { name: 'deckhand' }, spec: { controller: 'deckhand.local/ingress' } }
  await world.create('ingressclasses', ingressClass)
  await world.create('pods', { metadata: { name: 'on-x' }, spec: { ...podSpec, nodeName: 'x' } })
  for (const { plural, spec } of rows) await world.create(plural, { metadata: { name: 'x' }, spec })
  const signsOf = async (row: Row) => await row.signs(await world.get(row.plural, 'x'), world, machine)
  return { world, signsOf }
}

const isOn = ({ part, needs = [] }: Row, without: readonly string[]) =>
  [part, ...needs].every((each) => !without.includes(each))

/** Names of the controllers of each part; the scheduler is beside them. */
const controllers: Readonly<Record<string, readonly string[]>> = {
  deployments: ['replica-sets', 'deployments'],
  daemonsets: ['daemon-sets'],
  statefulsets: ['stateful-sets'],
  budgets: ['disruption-budgets'],
  taints: ['taint-eviction'],
  autoscalers: ['autoscalers'],
  jobs: ['jobs', 'job-pods', 'cron-jobs'],
  dns: ['dns'],
  ingress: ['ingress'],
  policies: ['network-policies'],
  storage: ['claims', 'volumes', 'ephemeral-claims'],
  scheduler: [],
  services: ['endpoint-slices', 'endpoint-slice-mirroring', 'load-balancers', 'service-proxy'],
}

/** Those that are about objects of a part that is switched off, and do nothing else. */
const tellers = ['unenforced-policies', 'unserved-ingresses']

async function namesWithout(without: readonly string[]): Promise<readonly string[]> {
  await using server = await createTestApi({ folder: makeTemporaryFolder() })
  const client = new FakeKubeClient(server.api)
  const log = silentLogger
  const own = { client, nodeName: 'node-1', without, clock: systemClock, random: Math.random, newUid: randomUUID, log }
  const deps = { ...own, ...new Machine().partsWithout(without), apiReturn: new ApiReturn() }
  const made = createControllers(
    deps,
    (apiVersion, kind, plural) => new ApiObjects(deps, { apiVersion, kind, plural }),
    () => {},
  )
  return made.map(({ name }) => name).filter((name) => !tellers.includes(name))
}

describe('parts that are switched off', () => {
  test('each has an object or a sign here', () => {
    const parts = Object.keys(SWITCHABLE_PARTS).toSorted()
    assert.deepEqual([...new Set(rows.map(({ part }) => part))].toSorted(), parts)
    assert.deepEqual(Object.keys(controllers).toSorted(), parts)
  })

  test('their controllers are not made; those of all others are', async () => {
    const all = Object.values(controllers).flat()
    assert.deepEqual((await namesWithout([])).toSorted(), all.toSorted())
    for (const [part, own] of Object.entries(controllers)) {
      const gone = part === 'services' ? [...own, 'ingress'] : own
      const left = all.filter((name) => !gone.includes(name))
      assert.deepEqual((await namesWithout([part])).toSorted(), left.toSorted(), part)
    }
  })

  for (const without of [[], ...Object.keys(SWITCHABLE_PARTS).map((part) => [part])]) {
    test(`only the others act: without ${without[0] ?? 'nothing'}`, async (t) => {
      const { world, signsOf } = await createWorld(t, without)
      for (const row of rows.filter((each) => isOn(each, without)))
        await world.until(
          row.plural,
          () => signsOf(row),
          (signs) => signs.every(Boolean),
        )
      for (const row of rows.filter((each) => !isOn(each, without)))
        assert.ok(!(await signsOf(row)).some(Boolean), row.plural)
    })
  }

  test('all of them: nothing is written but events', async (t) => {
    const { world, signsOf } = await createWorld(t, Object.keys(SWITCHABLE_PARTS))
    await world.until(
      'a look at all kinds',
      async () => world.client.sent.length,
      (count) => count > 10,
    )
    await systemClock.sleep(500, new AbortController().signal)
    for (const row of rows) assert.ok(!(await signsOf(row)).some(Boolean), row.plural)
    const written = world.client.sent.filter((request) => !request.startsWith('GET ') && !request.endsWith('/events'))
    assert.deepEqual(written, [])
  })

  test('their objects are refused, with the reason; what is there can be read and deleted', async () => {
    await using server = await createTestApi({
      folder: makeTemporaryFolder(),
      switchedOff: switchedOff(Object.keys(SWITCHABLE_PARTS)),
    })
    for (const [part, resources] of Object.entries(SWITCHABLE_PARTS)) {
      for (const storage of resources) {
        const [plural = '', ...group] = storage.split('.')
        const version = group.join('.') === 'autoscaling' ? 'v2' : 'v1'
        const root = group.length === 0 ? '/api/v1' : `/apis/${group.join('.')}/${version}`
        const path = `${root}${plural === 'storageclasses' ? '' : '/namespaces/default'}/${plural}`
        const refused = await call(server.api, 'POST', path, { body: { metadata: { name: 'x' } } })
        assert.equal(refused.status, 403, storage)
        assert.ok(refused.body.message.includes(`this node runs without ${part}`), refused.body.message)
        assert.equal((await call(server.api, 'GET', path)).status, 200)
        assert.equal((await call(server.api, 'DELETE', `${path}/x`)).status, 404)
      }
    }
  })
})
