import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { KubeletCredentials } from '../../../src/api-server/backends/kubelet-credentials.ts'
import { ensureKubeletClientCertificate } from '../../../src/api-server/pki/kubelet-client-certificate.ts'
import { openPki } from '../../../src/api-server/pki/open-pki.ts'
import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { call } from '../api-server/api-client.ts'
import { startFakeKubelet } from '../api-server/fake-kubelet.ts'
import { createFolder } from '../api-server/start-secured-api.ts'
import { createFastClock } from '../../fakes/fast-clock.ts'
import { createWorkloadWorld } from './create-workload-world.ts'
import type { AnyObject } from './create-workload-world.ts'

const METRICS = 'GET /apis/metrics.k8s.io/v1beta1/pods'

/** The workload world with a kubelet that reports what its pods use. */
async function createScaledWorld(t: TestContext) {
  const folder = createFolder(t)
  // A turn of the autoscalers takes 150 ms, the window for shrinking 3 s.
  const clock = createFastClock()
  const pki = await openPki(`${folder}/pki`, { clock: systemClock, log: silentLogger })
  const certificate = await ensureKubeletClientCertificate(pki, { clock: systemClock, log: silentLogger })
  const kubeletTls = new KubeletCredentials({ authorityPem: pki.authority.pem, certificate }).tls()
  const world = await createWorkloadWorld(t, { clock, api: { clock, kubeletTls } })
  const usage = { cores: 0, reads: 0, isThere: true }
  const counters = new Map<string, { seconds: number; at: number }>()
  const report = async () => {
    const now = clock.now()
    const pods = await world.list('pods')
    const lines = pods.map(({ metadata }) => {
      const { seconds, at } = counters.get(metadata.name) ?? { seconds: 0, at: now }
      const counter = { seconds: seconds + (usage.cores * (now - at)) / 1000, at: now }
      counters.set(metadata.name, counter)
      const labels = `{container="c",namespace="default",pod="${metadata.name}"}`
      return `container_cpu_usage_seconds_total${labels} ${counter.seconds} ${Math.round(now)}\ncontainer_memory_working_set_bytes${labels} 1048576\n`
    })
    return `node_cpu_usage_seconds_total ${now / 1000} ${Math.round(now)}\n${lines.join('')}`
  }
  const { port } = await startFakeKubelet(t, folder, (_, response) => {
    usage.reads += 1
    response.statusCode = usage.isThere ? 200 : 500
    void report().then((text) => response.end(text))
  })
  const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }]
  const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } }
  await call(world.api, 'POST', '/api/v1/nodes', { body: { metadata: { name: 'node-1' }, status } })
  const startTime = new Date(systemClock.now() - 3_600_000).toISOString()
  world.kubelet = () => ({
    phase: 'Running',
    startTime,
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: startTime }],
  })
  const until = (what: string, holds: (autoscaler: AnyObject) => boolean, name = 'web') =>
    world.until(what, () => world.get('horizontalpodautoscalers', name), holds, 20_000)
  const sent = (line: string) => world.client.sent.filter((each) => each === line).length
  return { world, usage, until, sent }
}

const workload = (kind: string, replicas: number, name = 'web') => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: {
    replicas,
    serviceName: kind === 'StatefulSet' ? name : undefined,
    podManagementPolicy: kind === 'StatefulSet' ? 'Parallel' : undefined,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'a', resources: { requests: { cpu: '100m' } } }] },
    },
  },
})
const autoscaler = (spec: object, kind = 'Deployment', name = 'web', target = name) => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind, name: target },
    minReplicas: 2,
    maxReplicas: 6,
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }],
    ...spec,
  },
})
const conditionOf = ({ status }: AnyObject, type: string) =>
  status?.conditions?.find((condition: AnyObject) => condition.type === type)

describe('autoscalers', () => {
  test('make a Deployment grow with its usage and shrink when the window is over', async (t) => {
    const { world, usage, until, sent } = await createScaledWorld(t)
    await world.create('deployments', workload('Deployment', 2))
    assert.equal(sent(METRICS), 0)
    usage.cores = 0.1
    await world.create('horizontalpodautoscalers', autoscaler({}))
    const grown = await until('more', ({ status }) => status?.desiredReplicas === 4)
    assert.ok(Date.parse(grown.status.lastScaleTime) > 0)
    assert.equal(conditionOf(grown, 'AbleToScale').reason, 'SucceededRescale')
    assert.equal(conditionOf(grown, 'ScalingActive').reason, 'ValidMetricFound')
    usage.cores = 0.05
    const steady = await until(
      'usage at the target',
      ({ status }) =>
        status.currentReplicas === status.desiredReplicas &&
        status.currentMetrics?.[0].resource.current.averageUtilization <= 55,
    )
    assert.equal(conditionOf(steady, 'ScalingLimited').status, 'False')
    assert.match(
      (await world.events('SuccessfulRescale')).join(),
      /New size: 4; reason: cpu resource utilization \(percentage of request\) above target/,
    )
    usage.cores = 0
    await until('the window', (found) => conditionOf(found, 'AbleToScale').reason === 'ScaleDownStabilized')
    const shrunk = await until('fewer', ({ status }) => status.desiredReplicas === 2)
    assert.equal(conditionOf(shrunk, 'ScalingLimited').reason, 'TooFewReplicas')
    assert.match((await world.events('SuccessfulRescale')).join(), /New size: 2; reason: All metrics below target/)
    assert.equal((await world.get('deployments', 'web')).spec.replicas, 2)
    const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
    const table = await call(world.api, 'GET', path, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })
    assert.deepEqual(table.body.rows[0].cells.slice(0, 2), ['web', 'Deployment/web'])
    assert.match(table.body.rows[0].cells[2], /^cpu: \d+%\/50%$/)
  })

  test('of the older version of the group work the same, and show there what that version has no fields for', async (t) => {
    const { world, usage, until } = await createScaledWorld(t)
    await world.create('deployments', workload('Deployment', 2))
    usage.cores = 0.1
    const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers'
    const spec = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, minReplicas: 2 }
    const body = {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web' },
      spec: { ...spec, maxReplicas: 4, targetCPUUtilizationPercentage: 50 },
    }
    assert.equal((await call(world.api, 'POST', path, { body })).status, 201)
    const { spec: stored } = await until('more', ({ status }) => status?.desiredReplicas === 4)
    assert.deepEqual(stored.metrics, autoscaler({}).spec.metrics)
    const { body: old } = await call(world.api, 'GET', `${path}/web`)
    assert.equal(old.apiVersion, 'autoscaling/v1')
    assert.equal(old.status.desiredReplicas, 4)
    assert.ok(old.status.currentCPUUtilizationPercentage > 50)
    const conditions = JSON.parse(old.metadata.annotations['autoscaling.alpha.kubernetes.io/conditions'])
    assert.equal(conditionOf({ status: { conditions } }, 'ScalingActive').reason, 'ValidMetricFound')
  })

  test('read usage once for all, not at all without them, and write nothing when nothing changes', async (t) => {
    const { world, until, sent } = await createScaledWorld(t)
    const target = { type: 'AverageValue', averageValue: '1Mi' }
    const metrics = [{ type: 'Resource', resource: { name: 'memory', target } }]
    for (const name of ['web', 'shop']) {
      await world.create('deployments', workload('Deployment', 2, name))
      await world.create('horizontalpodautoscalers', autoscaler({ metrics }, 'Deployment', name))
    }
    for (const name of ['web', 'shop'])
      await until('a number', (found) => conditionOf(found, 'ScalingActive')?.reason === 'ValidMetricFound', name)
    const scaleOf = (name: string) => sent(`GET /apis/apps/v1/namespaces/default/deployments/${name}/scale`)
    const statusWrites = () => sent('PUT /apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/shop/status')
    const [reads, turns, writes] = [sent(METRICS), scaleOf('shop'), statusWrites()]
    await world.until(
      'ten turns',
      async () => scaleOf('shop'),
      (now) => now >= turns + 10,
    )
    assert.ok(Math.abs(sent(METRICS) - reads - 10) <= 1, `${sent(METRICS) - reads} reads in ten turns`)
    assert.equal(statusWrites(), writes)
    for (const name of ['web', 'shop']) await world.remove('horizontalpodautoscalers', name)
    const after = scaleOf('web')
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.ok(scaleOf('web') <= after + 1)
    const last = sent(METRICS)
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.equal(sent(METRICS), last)
  })

  test('say why nothing is scaled', async (t) => {
    const { world, usage, until } = await createScaledWorld(t)
    await world.create('horizontalpodautoscalers', autoscaler({}))
    const lost = await until('no target', (found) => conditionOf(found, 'AbleToScale') !== undefined)
    assert.equal(conditionOf(lost, 'AbleToScale').reason, 'FailedGetScale')
    await world.create('deployments', workload('Deployment', 0))
    await until('a target of nothing', (found) => conditionOf(found, 'ScalingActive')?.reason === 'ScalingDisabled')
    usage.isThere = false
    await world.patch('deployments', 'web/scale', { spec: { replicas: 2 } })
    const blind = await until(
      'no usage',
      (found) => conditionOf(found, 'ScalingActive').reason === 'FailedGetResourceMetric',
    )
    assert.match(conditionOf(blind, 'ScalingActive').message, /does not report usage/)
    const metrics = [
      { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } },
    ]
    await world.patch('horizontalpodautoscalers', 'web', { spec: { metrics } })
    await until('no such metrics', (found) => conditionOf(found, 'ScalingActive').reason === 'FailedGetPodsMetric')
    await world.create('horizontalpodautoscalers', autoscaler({}, 'Deployment', 'rival', 'web'))
    await until('a rival', (found) => conditionOf(found, 'ScalingActive').reason === 'AmbiguousSelector')
    for (const reason of ['FailedGetScale', 'FailedGetResourceMetric', 'FailedComputeMetricsReplicas'])
      assert.ok((await world.events(reason)).length > 0, reason)
    assert.equal((await world.get('deployments', 'web')).spec.replicas, 2)
  })

  test('bring a StatefulSet and a ReplicaSet into their bounds', async (t) => {
    const { world, until } = await createScaledWorld(t)
    await world.create('statefulsets', workload('StatefulSet', 8))
    await world.create('horizontalpodautoscalers', autoscaler({}, 'StatefulSet'))
    await world.create('replicasets', workload('ReplicaSet', 1, 'set'))
    await world.create('horizontalpodautoscalers', autoscaler({}, 'ReplicaSet', 'set'))
    await until('fewer', ({ status }) => status?.desiredReplicas === 6)
    await until('more', ({ status }) => status?.desiredReplicas === 2, 'set')
    assert.equal((await world.get('statefulsets', 'web')).spec.replicas, 6)
    assert.equal((await world.get('replicasets', 'set')).spec.replicas, 2)
  })

  test('size objects of kinds that definitions describe', async (t) => {
    const { world, until } = await createScaledWorld(t)
    const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' }
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
    const version = { name: 'v1', served: true, storage: true, schema, subresources: { status: {}, scale } }
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.example.com' },
      spec: { group: 'example.com', names, scope: 'Namespaced', versions: [version] },
    }
    const made = await call(world.api, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      body: definition,
    })
    assert.equal(made.status, 201)
    const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'web' }, spec: { replicas: 8 } }
    const path = '/apis/example.com/v1/namespaces/default/gadgets'
    assert.equal((await call(world.api, 'POST', path, { body: gadget })).status, 201)
    const scaleTargetRef = { apiVersion: 'example.com/v1', kind: 'Gadget', name: 'web' }
    await world.create('horizontalpodautoscalers', autoscaler({ scaleTargetRef }))
    await until('fewer', ({ status }) => status?.desiredReplicas === 6)
    assert.equal((await call(world.api, 'GET', `${path}/web`)).body.spec.replicas, 6)
    await until('no selector', (found) => conditionOf(found, 'ScalingActive')?.reason === 'InvalidSelector')
    await world.patch('horizontalpodautoscalers', 'web', { spec: { scaleTargetRef: { kind: 'Widget' } } })
    const lost = await until('no kind', (found) => conditionOf(found, 'AbleToScale').status === 'False')
    assert.match(conditionOf(lost, 'AbleToScale').message, /no matches for kind "Widget" in version "example.com\/v1"/)
  })
})
