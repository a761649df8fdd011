import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { runScheduler } from '../../../src/controllers/scheduler/run-scheduler.ts'
import type { Node, Pod } from '../../../src/model/generated/core-v1.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { call } from '../api-server/api-client.ts'
import { createTestApi } from '../api-server/create-test-api.ts'
import { FakeKubeClient } from '../fake-kube-client.ts'

const PODS = '/api/v1/namespaces/default/pods'
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims'
const NODE = '/api/v1/nodes/node-1'
const node: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1' },
  status: {
    allocatable: { cpu: '2', memory: '1Gi', pods: '10' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
}

async function setUp(t: TestContext) {
  const server = await createTestApi({ folder: makeTemporaryFolder(), hasScheduler: true })
  t.after(() => server[Symbol.asyncDispose]())
  const client = new FakeKubeClient(server.api)
  const events: string[] = []
  const stop = new AbortController()
  const running = runScheduler(
    {
      client,
      nodeName: 'node-1',
      events: { record: (pod, { reason, message }) => void events.push(`${pod.metadata.name} ${reason}: ${message}`) },
      clock: systemClock,
      random: Math.random,
      log: silentLogger,
    },
    stop.signal,
  ).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  t.after(async () => {
    stop.abort(new Error('The test ends'))
    await running
  })
  const get = async (name: string) => (await call(server.api, 'GET', `${PODS}/${name}`)).body as Pod
  const until = async (name: string, isDone: (pod: Pod) => boolean) => {
    while (!isDone(await get(name))) await sleep(5, undefined, { signal: t.signal })
  }
  const send = async (method: string, path: string, body?: object) => {
    const { status, body: answer } = await call(server.api, method, path, body === undefined ? {} : { body })
    assert.ok(status < 300, JSON.stringify(answer))
  }
  return {
    client,
    events,
    get,
    send,
    create: (name: string, spec: object = {}) => {
      const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '1500m' } } }]
      return send('POST', PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers, ...spec } })
    },
    scheduled: async (name: string) =>
      (await get(name)).status?.conditions?.find(({ type }) => type === 'PodScheduled'),
    until,
    untilBound: (name: string) => until(name, ({ spec }) => Boolean(spec?.nodeName)),
    untilWaits: (name: string, message: string) =>
      until(name, ({ status }) => status?.conditions?.some((each) => each.message?.includes(message)) === true),
  }
}

describe('the scheduler on the real API', { timeout: 120_000 }, () => {
  test('binds a pod that fits; another waits with the reason, and gets the room of the first', async (t) => {
    const { create, send, get, events, untilBound, untilWaits, scheduled } = await setUp(t)
    await create('early')
    await untilWaits('early', 'no nodes available to schedule pods')
    await send('POST', '/api/v1/nodes', node)
    await untilBound('early')
    assert.equal((await scheduled('early'))?.status, 'True')
    await create('late')
    await untilWaits('late', '1 Insufficient cpu')
    const { status } = await get('late')
    assert.deepEqual(
      [status?.phase, status?.conditions?.map(({ type, status: value, reason }) => [type, value, reason])],
      ['Pending', [['PodScheduled', 'False', 'Unschedulable']]],
    )
    await send('DELETE', `${PODS}/early`, { gracePeriodSeconds: 0 })
    await untilBound('late')
    assert.deepEqual(events, [
      'early FailedScheduling: no nodes available to schedule pods',
      'early Scheduled: Successfully assigned default/early to node-1',
      'late FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
      'late Scheduled: Successfully assigned default/late to node-1',
    ])
  })

  test('a node that is uncordoned, labelled or has lost its taint gets the pods that waited for it', async (t) => {
    const { create, send, untilBound, untilWaits } = await setUp(t)
    const patch = (body: object) => send('PUT', NODE, { ...node, ...body })
    await send('POST', '/api/v1/nodes', { ...node, spec: { unschedulable: true } })
    await create('web', { nodeSelector: { disk: 'ssd' } })
    await untilWaits('web', 'node(s) were unschedulable')
    await patch({ spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } })
    await untilWaits('web', 'untolerated taint')
    await patch({ spec: {} })
    await untilWaits('web', "didn't match Pod's node affinity/selector")
    await patch({ spec: {}, metadata: { ...node.metadata, labels: { disk: 'ssd' } } })
    await untilBound('web')
  })

  test('a pod of higher priority takes the place of another one', async (t) => {
    const { create, send, get, events, until, untilBound, untilWaits } = await setUp(t)
    await send('POST', '/api/v1/nodes', node)
    await send('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'high' },
      value: 100,
    })
    await create('low')
    await untilBound('low')
    await create('urgent', { priorityClassName: 'high' })
    await untilWaits('urgent', '1 Insufficient cpu')
    await until('low', ({ metadata }) => metadata?.deletionTimestamp !== undefined)
    const low = await get('low')
    const target = low.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
    assert.deepEqual([target?.status, target?.reason], ['True', 'PreemptionByScheduler'])
    await until('urgent', ({ status }) => status?.nominatedNodeName === 'node-1')
    // Its kubelet has ended it.
    await send('DELETE', `${PODS}/low`, { gracePeriodSeconds: 0 })
    await untilBound('urgent')
    assert.equal((await get('urgent')).status?.nominatedNodeName, undefined)
    assert.ok(events.includes(`low Preempted: Preempted by pod ${(await get('urgent')).metadata?.uid} on node node-1`))
  })

  test('pods with a node, with gates or for another scheduler are left alone', async (t) => {
    const { create, send, get, untilBound } = await setUp(t)
    await send('POST', '/api/v1/nodes', { ...node, spec: { unschedulable: true } })
    await create('named', { nodeName: 'node-1' })
    await create('gated', { schedulingGates: [{ name: 'example.com/g' }] })
    await create('other', { schedulerName: 'mine' })
    await send('PUT', NODE, node)
    await create('web', { containers: [{ name: 'c', image: 'i' }] })
    await untilBound('web')
    assert.deepEqual(
      [(await get('named')).spec?.nodeName, (await get('gated')).spec?.nodeName, (await get('other')).spec?.nodeName],
      ['node-1', undefined, undefined],
    )
  })

  test('goes on when the API was away', async (t) => {
    const { client, create, send, untilBound } = await setUp(t)
    await send('POST', '/api/v1/nodes', node)
    await create('a', { containers: [{ name: 'c', image: 'i' }] })
    await untilBound('a')
    client.goAway()
    await create('b', { containers: [{ name: 'c', image: 'i' }] })
    client.comeBack()
    await untilBound('b')
  })

  test('a volume or a claim that the watch has not shown yet is no reason to report', async (t) => {
    const { client, create, send, events, untilBound } = await setUp(t)
    const asked = async (path: string) => {
      while (events.length === 0 && !client.sent.includes(`GET ${path}`))
        await sleep(5, undefined, { signal: t.signal })
    }
    await send('POST', '/api/v1/nodes', node)
    // By then everything was listed once, so that the rest comes by watches.
    await create('first', { containers: [{ name: 'c', image: 'i' }] })
    await untilBound('first')
    events.length = 0
    await send('POST', '/apis/storage.k8s.io/v1/storageclasses', {
      metadata: { name: 'slow' },
      provisioner: 'example.com/made-by-hand',
      volumeBindingMode: 'WaitForFirstConsumer',
    })
    const resources = { requests: { storage: '1Gi' } }
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'slow' }
    const late = holdWatches(client)
    await send('POST', CLAIMS, { metadata: { name: 'data' }, spec: { ...spec, resources } })
    await create('db', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] })
    await asked(`${CLAIMS}/data`)
    late.release('/api/v1/persistentvolumeclaims')
    while (!client.sent.includes(`PATCH ${CLAIMS}/data`)) await sleep(5, undefined, { signal: t.signal })
    await send('POST', '/api/v1/persistentvolumes', {
      metadata: { name: 'made' },
      spec: {
        ...spec,
        capacity: resources.requests,
        hostPath: { path: '/made' },
        claimRef: { namespace: 'default', name: 'data' },
      },
    })
    await asked('/api/v1/persistentvolumes/made')
    late.release('/api/v1/persistentvolumes')
    await untilBound('db')
    assert.deepEqual(events, ['db Scheduled: Successfully assigned default/db to node-1'])
  })
})

/** Keeps back what the watches of claims and of volumes report, until they are released. */
function holdWatches(client: FakeKubeClient) {
  const held = ['/api/v1/persistentvolumeclaims', '/api/v1/persistentvolumes']
  const gates = new Map(held.map((path) => [path, Promise.withResolvers<void>()]))
  client.beforeEvent = async ({ path }) => await gates.get(path)?.promise
  return { release: (path: string) => gates.get(path)?.resolve() }
}
