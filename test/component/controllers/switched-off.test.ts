import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { SWITCHABLE_PARTS, switchedOff } from '../../../src/standalone/node/switchable-parts.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { call } from '../api-server/api-client.ts'
import { createTestApi } from '../api-server/create-test-api.ts'
import { createWorkloadWorld } from './create-workload-world.ts'
import type { AnyObject, WorkloadWorld } from './create-workload-world.ts'

const labels = { app: 'x' }
const selector = { matchLabels: labels }
const podSpec = { containers: [{ name: 'c', image: 'i' }] }
const workload = { selector, template: { metadata: { labels }, spec: podSpec } }
const runsJob = { template: { spec: { ...podSpec, restartPolicy: 'Never' } } }
const observed = ({ status }: AnyObject) => status?.observedGeneration === 1

interface Row {
  readonly part: string
  readonly plural: string
  readonly spec: AnyObject
  /** Whether a controller has seen it. */
  readonly isActedOn: (object: AnyObject, world: WorkloadWorld) => boolean | Promise<boolean>
}

const rows: readonly Row[] = [
  { part: 'deployments', plural: 'deployments', spec: workload, isActedOn: observed },
  { part: 'deployments', plural: 'replicasets', spec: workload, isActedOn: observed },
  { part: 'daemonsets', plural: 'daemonsets', spec: workload, isActedOn: observed },
  { part: 'statefulsets', plural: 'statefulsets', spec: { ...workload, serviceName: 'x' }, isActedOn: observed },
  { part: 'budgets', plural: 'poddisruptionbudgets', spec: { selector, minAvailable: 1 }, isActedOn: observed },
  { part: 'jobs', plural: 'jobs', spec: runsJob, isActedOn: ({ status }) => status?.startTime !== undefined },
  {
    part: 'services',
    plural: 'services',
    spec: { selector: labels, ports: [{ port: 80 }] },
    isActedOn: async (_, world) => {
      const slices = await world.list('endpointslices')
      return slices.some(({ metadata }) => metadata.labels['kubernetes.io/service-name'] === 'x')
    },
  },
  {
    part: 'storage',
    plural: 'persistentvolumeclaims',
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'now', resources: { requests: { storage: '1Mi' } } },
    isActedOn: ({ status }) => status?.phase === 'Bound',
  },
]
const storageClass = { provisioner: 'deckhand.local/folder', volumeBindingMode: 'Immediate' }
const folders = { root: '/volumes', make: async () => {}, remove: async () => {}, list: async () => [] }

/** With an object for each row. */
async function createWorld(t: TestContext, without: readonly string[]): Promise<WorkloadWorld> {
  const world = await createWorkloadWorld(t, { without, folders })
  await world.create('nodes', { metadata: { name: 'node-1' } })
  await world.create('storageclasses', { metadata: { name: 'now' }, ...storageClass })
  for (const { plural, spec } of rows) await world.create(plural, { metadata: { name: 'x' }, spec })
  return world
}

describe('parts that are switched off', () => {
  const sets: Readonly<Record<string, readonly string[]>> = {
    none: [],
    one: ['statefulsets'],
    'all but one': Object.keys(SWITCHABLE_PARTS).filter((part) => part !== 'statefulsets'),
  }
  for (const [title, without] of Object.entries(sets)) {
    test(`${title}: only the others act`, async (t) => {
      const world = await createWorld(t, without)
      const isActedOn = async (row: Row) => await row.isActedOn(await world.get(row.plural, 'x'), world)
      for (const row of rows.filter(({ part }) => !without.includes(part)))
        await world.until(row.plural, () => isActedOn(row), Boolean)
      for (const row of rows.filter(({ part }) => without.includes(part)))
        assert.equal(await isActedOn(row), false, row.plural)
    })
  }

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
