import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createMetricSources } from '../../test/builders/create-metric-sources.ts'
import { createPod } from '../../test/builders/create-pod.ts'
import { ABSENT, HEALTH_METRICS, MAIN_METRICS, PROBE_METRICS } from '../../test/fixtures/upstream-metrics.ts'
import type { MetricRow } from '../../test/fixtures/upstream-metrics.ts'
import { parsePrometheus } from '../../test/fixtures/parse-prometheus.ts'
import type { ParsedMetric } from '../../test/fixtures/parse-prometheus.ts'
import { createMetrics } from './create-metrics.ts'
import type { AgentMetrics, MetricsSources } from './create-metrics.ts'
import type { ProbeSeries } from './probe-metrics.ts'

const series: ProbeSeries = { namespace: 'shop', pod: 'web', podUid: 'u', container: 'main', type: 'liveness' }
const request = { method: 'GET', path: 'pods', serverType: 'readwrite', longRunning: false } as const
const claim = {
  capacityBytes: 1,
  availableBytes: 2,
  usedBytes: 3,
  inodes: 4,
  inodesFree: 5,
  inodesUsed: 6,
  isAbnormal: true,
}

const create = (change: Partial<MetricsSources> = {}) => createMetrics(createMetricSources(change))

async function linesOf(metrics: AgentMetrics, name: string): Promise<string[]> {
  const { body } = await metrics.render('text')
  return body.split('\n').filter((line) => line.startsWith(name))
}

/** Counts each thing once. */
function countEverything(metrics: AgentMetrics): void {
  metrics.loopFailed('memory')
  metrics.taskFailed()
  metrics.stateSetAside('state')
  metrics.runtimeOperation('version', 0.2, true)
  metrics.runtimeCallAbandoned('exec_sync')
  metrics.relist(0.1, 1000)
  metrics.listTooLarge()
  metrics.relist(0.1, 3000)
  metrics.containerStart('init', 'ErrImagePull')
  metrics.sandboxStart({ failed: true, handler: 'kata', hasOwnUsers: true, seconds: 0.1 })
  metrics.ownUsersStartFailed()
  metrics.podStart(7)
  metrics.podStartKnown({ totalSeconds: 8, sliSeconds: 6, hasNetwork: true })
  metrics.podRelist(0.1)
  metrics.runtimeEventsOpened(true)
  metrics.runtimeEvent(0.1)
  metrics.runtimeLosesSupport('1.37.0')
  metrics.podRejected('OutOfcpu')
  metrics.podRestarted(true)
  metrics.podOrphaned()
  metrics.containerEnded('regular', { exitCode: 1, reason: 'Error' })
  metrics.sleepCutShort()
  metrics.hookFellBack()
  metrics.preemption('memory')
  metrics.imageEnsured({ policy: 'Always', isPresent: undefined, isPulled: true })
  metrics.imagePulled(3, 2)
  metrics.imageCollected('age')
  metrics.imageChecked('mustAuthenticate')
  metrics.imageVolume(true)
  metrics.pullRecords({ pulled: 2, pulling: 1 })
  metrics.credentialProviderRun('acr', 0.1, true)
  metrics.podSeen(3)
  metrics.podWorkerPass('sync', 0.1)
  metrics.podWorkerStart(0.1)
  metrics.storageOperation({
    plugin: 'kubernetes.io/empty-dir',
    operation: 'volume_mount',
    seconds: 0.2,
    failed: false,
  })
  metrics.volumeFound(false)
  metrics.foreignVolumeCleaned(true)
  metrics.orphanVolumes(3, 1)
  metrics.volumeMeasured('du', 0.2)
  for (const kind of ['admitted', 'container', 'pod', 'volume'] as const)
    for (const isError of [true, false])
      metrics.selinuxLabel({ kind, plugin: 'kubernetes.io/iscsi', accessMode: 'RWOP', isError })
  metrics.devicePluginRegistered('example.com/gpu')
  metrics.devicesAllocated('example.com/gpu', 0.2)
  metrics.requestStarted(request)
  metrics.requestEnded(request, 0.1)
  metrics.webSocketRequest('exec')
  metrics.cgroupWork('create', 0.1)
  metrics.memoryProtected({ guaranteedBytes: 1, burstableBytes: 2 })
  for (const step of ['pre_kubelet', 'pre_registration', 'registration', 'post_registration', 'whole'] as const)
    metrics.nodeStartup(step, 1)
  metrics.clientRequest({
    host: 'a:6443',
    method: 'GET',
    verb: 'LIST',
    code: '200',
    seconds: 0.1,
  })
  metrics.clientRetry({ host: 'a:6443', verb: 'GET', code: '429' })
  metrics.clientWait({ host: 'a:6443', verb: 'GET', seconds: 0.1 })
  metrics.clientSize({ host: 'a:6443', verb: 'GET', requestBytes: 0, responseBytes: 700 })
  metrics.execPluginCall({ status: 'no_error', code: 0 })
  metrics.execPluginCertificate({ expiresAt: 20_000, replacedAgeSeconds: 700 })
  metrics.hostResolved({ host: 'a:6443', seconds: 0.1 })
  for (const kind of ['authn', 'authz'] as const) metrics.reviewAsked({ kind, code: '201', seconds: 0.1 })
  metrics.tokenJudged({ isHit: true, seconds: 0.1 })
  metrics.tokenFetch('begun')
  metrics.tokenFetch('ok')
  metrics.tokenWait(1)
  metrics.clientCertificateSeen(3700)
  metrics.podStatusReported(0.1)
  metrics.serverCertificateRotated(3700)
  metrics.certificateRenewalFailed('client')
  metrics.certificateRenewalFailed('server')
  metrics.probe(series, 'successful', 0.02)
  for (const method of ['list', 'get', 'get_allocatable'] as const)
    metrics.podResourcesRequest({ version: 'v1', method, failed: true })
  metrics.eviction('memory.available')
  metrics.evictionStatsAge('memory.available', 0.1)
  metrics.resizeRequested({ resource: 'cpu', requirement: 'limits', operation: 'increase' })
  metrics.resizeInfeasible('swap_limitation')
  metrics.deferredResizeAccepted('pods_removed')
  metrics.resizeActuated(12, true)
  metrics.cpusGiven({ wholeCores: true, oneCache: true })
  metrics.cpusRejected({ wholeCores: true })
  metrics.podCpusGiven({ exclusive: 1, shared: 1, oneCache: true })
  metrics.podCpusRejected()
  metrics.podMemoryGiven({ exclusive: 1, shared: 1 })
  metrics.podMemoryRejected()
  metrics.csiCall({ driver: 'disk', method: '/csi.v1.Node/NodeGetInfo', code: 'Ok', seconds: 0.1 })
  metrics.draOperation({ name: 'PrepareResources', failed: false, seconds: 0.2 })
  metrics.draCall({ driver: 'a.example', method: '/a/b', code: 'Cancelled', seconds: 0.1 })
  metrics.spansExported(2)
  metrics.spansDropped(1)
  metrics.healthChecked('ping', true)
}

/** A metric in the form of the rows. */
function toRow({ name, type, help, samples }: ParsedMetric): readonly unknown[] {
  const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)))
  labels.delete('le')
  const bounds = samples.flatMap(({ labels: { le } }) => (le === undefined || le === '+Inf' ? [] : [Number(le)]))
  const buckets = type === 'histogram' ? [...new Set(bounds)].map((bound) => bound.toPrecision(6)) : undefined
  return [name, type, /^\[(\w+)\] /.exec(help)?.[1], [...labels].sort().join(' '), buckets]
}

describe('createMetrics() and the metrics of the Go kubelet', () => {
  const kinds = [
    ['main', MAIN_METRICS, (metrics: AgentMetrics) => metrics.render('text')],
    ['probe', PROBE_METRICS, (metrics: AgentMetrics) => metrics.renderProbes('text')],
    ['health', HEALTH_METRICS, (metrics: AgentMetrics) => metrics.renderHealth('text')],
  ] as const
  for (const [kind, rows, render] of kinds) {
    test(`${kind}: what is here has the same type, labels, buckets and stability; what is not has a reason`, async () => {
      const metrics = create({ claimUsages: () => [{ namespace: 'shop', claim: 'data', ...claim }] })
      countEverything(metrics)
      const shown = parsePrometheus((await render(metrics)).body)
      const expected = rows.filter((row) => row[5] === 'here').map(withoutState)
      const names = new Set(rows.map(([name]) => name))
      assert.deepEqual(shown.filter(({ name }) => names.has(name)).map(toRow), expected.sort(byName))
      assert.ok(rows.every((row) => row[5] === 'here' || Object.hasOwn(ABSENT, row[5])))
    })
  }

  test('what only we have is about the process, or under our own name', async () => {
    const metrics = create()
    countEverything(metrics)
    const known = new Set(MAIN_METRICS.map(([name]) => name))
    const own = parsePrometheus((await metrics.render('text')).body).filter(({ name }) => !known.has(name))
    assert.deepEqual(
      own.map(({ name }) => name).filter((name) => !/^(?:process|nodejs|deckhand)_/.test(name)),
      [],
    )
  })
})

function withoutState([name, type, stability, labels, buckets]: MetricRow): readonly unknown[] {
  return [name, type, stability, labels, buckets?.map((bound) => bound.toPrecision(6))]
}

function byName([a]: readonly unknown[], [b]: readonly unknown[]): number {
  return String(a) < String(b) ? -1 : 1
}

test('createMetrics() counts the calls to the runtime, and apart from them those that failed', async () => {
  const metrics = create()
  metrics.runtimeOperation('run_podsandbox', 0.004, false)
  metrics.runtimeOperation('run_podsandbox', 0.2, true)
  assert.deepEqual(await linesOf(metrics, 'kubelet_runtime_operations_total'), [
    'kubelet_runtime_operations_total{operation_type="run_podsandbox"} 2',
  ])
  assert.deepEqual(await linesOf(metrics, 'kubelet_runtime_operations_errors_total'), [
    'kubelet_runtime_operations_errors_total{operation_type="run_podsandbox"} 1',
  ])
  assert.equal(
    (await linesOf(metrics, 'kubelet_runtime_operations_duration_seconds'))[0],
    'kubelet_runtime_operations_duration_seconds_bucket{le="0.005",operation_type="run_podsandbox"} 1',
  )
})

test('createMetrics() shows how far apart relists are, and when the last one was', async () => {
  const metrics = create()
  metrics.relist(0.1, 10_000)
  metrics.relist(0.1, 12_000)
  assert.deepEqual(await linesOf(metrics, 'kubelet_pleg_relist_interval_seconds_sum'), [
    'kubelet_pleg_relist_interval_seconds_sum 2',
  ])
  assert.deepEqual(await linesOf(metrics, 'kubelet_pleg_last_seen_seconds'), ['kubelet_pleg_last_seen_seconds 12'])
})

test('createMetrics() counts the runs of probes, times those that did not fail, and forgets what ended', async () => {
  const metrics = create()
  metrics.probe(series, 'successful', 0.02)
  metrics.probe(series, 'failed', 1)
  const lines = async () =>
    (await metrics.renderProbes('text')).body.split('\n').filter((line) => /^prober.*(?:total|count)/.test(line))
  const labels = 'container="main",namespace="shop",pod="web"'
  assert.deepEqual(await lines(), [
    `prober_probe_duration_seconds_count{${labels},probe_type="Liveness"} 1`,
    `prober_probe_total{${labels},pod_uid="u",probe_type="Liveness",result="successful"} 1`,
    `prober_probe_total{${labels},pod_uid="u",probe_type="Liveness",result="failed"} 1`,
  ])
  metrics.probeEnded(series)
  assert.deepEqual(await lines(), [])
})

test('createMetrics() shows the usage of claims for as long as they exist', async () => {
  let claims = [{ namespace: 'shop', claim: 'data', ...claim }]
  const metrics = create({ claimUsages: () => claims })
  const labels = '{namespace="shop",persistentvolumeclaim="data"}'
  assert.deepEqual(await linesOf(metrics, 'kubelet_volume_stats_'), [
    `kubelet_volume_stats_available_bytes${labels} 2`,
    `kubelet_volume_stats_capacity_bytes${labels} 1`,
    `kubelet_volume_stats_health_status_abnormal${labels} 1`,
    `kubelet_volume_stats_inodes${labels} 4`,
    `kubelet_volume_stats_inodes_free${labels} 5`,
    `kubelet_volume_stats_inodes_used${labels} 6`,
    `kubelet_volume_stats_used_bytes${labels} 3`,
  ])
  claims = []
  assert.deepEqual(await linesOf(metrics, 'kubelet_volume_stats_'), [])
})

test('createMetrics() counts starts of containers, sandboxes and pods', async () => {
  const metrics = create()
  metrics.containerStart('init', undefined)
  metrics.containerStart('regular', 'ErrImagePull')
  const run = { handler: '', hasOwnUsers: false, seconds: 0.1 }
  metrics.sandboxStart({ ...run, failed: false })
  metrics.sandboxStart({ ...run, failed: true, hasOwnUsers: true })
  metrics.ownUsersStartFailed()
  metrics.podStart(7)
  assert.deepEqual(await linesOf(metrics, 'kubelet_started_'), [
    'kubelet_started_containers_errors_total{code="ErrImagePull",container_type="container"} 1',
    'kubelet_started_containers_total{container_type="init_container"} 1',
    'kubelet_started_containers_total{container_type="container"} 1',
    'kubelet_started_pods_errors_total 1',
    'kubelet_started_pods_total 2',
    'kubelet_started_user_namespaced_pods_errors_total 1',
    'kubelet_started_user_namespaced_pods_total 1',
  ])
  const buckets = await linesOf(metrics, 'kubelet_pod_start_duration_seconds_bucket')
  assert.deepEqual(
    [buckets.length, buckets[6], buckets[7]],
    [26, 'kubelet_pod_start_duration_seconds_bucket{le="6"} 0', 'kubelet_pod_start_duration_seconds_bucket{le="8"} 1'],
  )
})

test('createMetrics() reads what is true of the node when it is asked', async () => {
  const sources = createMetricSources()
  const pod = createPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } })
  let wanted = [{ pod, status: { phase: 'Running' } }]
  assert.ok(sources.node !== undefined)
  const metrics = createMetrics({ ...sources, node: { ...sources.node, wanted: () => wanted } })
  assert.deepEqual(await linesOf(metrics, 'kubelet_desired_pods'), [
    'kubelet_desired_pods{static=""} 0',
    'kubelet_desired_pods{static="true"} 1',
  ])
  wanted = []
  assert.deepEqual(await linesOf(metrics, 'kubelet_desired_pods{static="true"}'), [
    'kubelet_desired_pods{static="true"} 0',
  ])
  assert.deepEqual(await linesOf(metrics, 'kubelet_certificate_manager_client_ttl'), [
    'kubelet_certificate_manager_client_ttl_seconds 7.5',
  ])
  assert.deepEqual(await linesOf(metrics, 'kubelet_certificate_manager_server_ttl'), [
    'kubelet_certificate_manager_server_ttl_seconds +Inf',
  ])
  assert.deepEqual(await linesOf(metrics, 'process_start_time_seconds'), ['process_start_time_seconds 5'])
  assert.deepEqual(await linesOf(metrics, 'kubernetes_feature_enabled'), [
    'kubernetes_feature_enabled{name="A",stage="BETA"} 1',
    'kubernetes_feature_enabled{name="B",stage=""} 0',
  ])
  const [build = ''] = await linesOf(metrics, 'kubernetes_build_info')
  assert.match(build, /git_version="v1.36.4",go_version="nodev\d+.*",major="1",minor="36",platform="linux\//)
})

test('createMetrics() shows what the process uses; its processor time only ever grows', async (t) => {
  // One resource at least, whatever the standard streams of this process are.
  const timer = setInterval(() => {}, 60_000)
  t.after(() => clearInterval(timer))
  const metrics = create()
  const cpu = async () => Number((await linesOf(metrics, 'process_cpu_seconds_total'))[0]?.split(' ')[1])
  const before = await cpu()
  assert.ok(before > 0 && (await cpu()) >= before)
  const { type } = await metrics.render('text')
  assert.match(type, /^text\/plain; version=0.0.4/)
  for (const name of ['process_resident_memory_bytes', 'nodejs_heap_size_used_bytes', 'nodejs_active_resources'])
    assert.ok(Number((await linesOf(metrics, name))[0]?.split(' ')[1]) > 0, name)
})

test('createMetrics() may be called twice: nothing is shared', async () => {
  const [first, second] = [create(), create()]
  first.runtimeOperation('version', 1, false)
  assert.deepEqual(await linesOf(second, 'kubelet_runtime_operations_total'), [])
})

test('createMetrics() counts what is done with volumes', async () => {
  const metrics = create()
  metrics.storageOperation({
    plugin: 'kubernetes.io/empty-dir',
    operation: 'volume_mount',
    seconds: 0.2,
    failed: false,
  })
  metrics.storageOperation({ plugin: 'kubernetes.io/empty-dir', operation: 'volume_mount', seconds: 3, failed: true })
  metrics.volumeFound(true)
  metrics.volumeFound(false)
  metrics.foreignVolumeCleaned(false)
  metrics.foreignVolumeCleaned(true)
  metrics.orphanVolumes(3, 1)
  metrics.storageOperation({
    plugin: 'kubernetes.io/csi',
    operation: 'volume_mount',
    seconds: 1,
    failed: false,
    isMigrated: true,
  })
  const labels = (status: string) =>
    `migrated="false",operation_name="volume_mount",status="${status}",volume_plugin="kubernetes.io/empty-dir"`
  const migrated = 'migrated="true",operation_name="volume_mount",status="success",volume_plugin="kubernetes.io/csi"'
  assert.deepEqual(await linesOf(metrics, 'storage_operation_duration_seconds_count'), [
    `storage_operation_duration_seconds_count{${labels('success')}} 1`,
    `storage_operation_duration_seconds_count{${labels('fail-unknown')}} 1`,
    `storage_operation_duration_seconds_count{${migrated}} 1`,
  ])
  assert.deepEqual(await linesOf(metrics, 'volume_manager_total_volumes'), [
    'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="desired_state_of_world"} 2',
    'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="actual_state_of_world"} 1',
  ])
  assert.deepEqual(await linesOf(metrics, 'reconstruct_volume'), [
    'reconstruct_volume_operations_errors_total 1',
    'reconstruct_volume_operations_total 2',
  ])
  assert.deepEqual(await linesOf(metrics, 'force_cleaned'), [
    'force_cleaned_failed_volume_operation_errors_total 1',
    'force_cleaned_failed_volume_operations_total 2',
  ])
  assert.deepEqual(await linesOf(metrics, 'kubelet_orphan_pod'), [
    'kubelet_orphan_pod_cleaned_volumes 3',
    'kubelet_orphan_pod_cleaned_volumes_errors 1',
  ])
})

test('createMetrics() counts requests, and forgets health checks when reset', async () => {
  const metrics = create()
  metrics.requestStarted(request)
  const labels = '{long_running="false",method="GET",path="pods",server_type="readwrite"}'
  assert.deepEqual(await linesOf(metrics, 'kubelet_http_inflight_requests'), [
    `kubelet_http_inflight_requests${labels} 1`,
  ])
  metrics.requestEnded(request, 0.1)
  assert.deepEqual(await linesOf(metrics, 'kubelet_http_inflight_requests'), [
    `kubelet_http_inflight_requests${labels} 0`,
  ])
  assert.deepEqual(await linesOf(metrics, 'kubelet_http_requests_total'), [`kubelet_http_requests_total${labels} 1`])
  metrics.healthChecked('ping', false)
  const health = async () =>
    (await metrics.renderHealth('text')).body.split('\n').filter((line) => line.startsWith('kube'))
  assert.deepEqual(await health(), [
    'kubernetes_healthcheck{name="ping",type="healthz"} 0',
    'kubernetes_healthchecks_total{name="ping",status="error",type="healthz"} 1',
  ])
  metrics.resetHealth()
  assert.deepEqual(await health(), [])
})

test('createMetrics() shows how long the certificate of a credential plugin is good: without end when there is none', async () => {
  const metrics = create()
  const ttl = () => linesOf(metrics, 'rest_client_exec_plugin_ttl_seconds')
  assert.deepEqual(await ttl(), ['rest_client_exec_plugin_ttl_seconds +Inf'])
  metrics.execPluginCertificate({ expiresAt: 22_500, replacedAgeSeconds: undefined })
  assert.deepEqual(await ttl(), ['rest_client_exec_plugin_ttl_seconds 10'])
  assert.deepEqual(await linesOf(metrics, 'rest_client_exec_plugin_certificate_rotation_age_count'), [
    'rest_client_exec_plugin_certificate_rotation_age_count 0',
  ])
})

test('createMetrics() counts certificates of pods by signer and state, and shows no plugins where there are none', async () => {
  const states = ['fresh', 'denied', 'fresh'].map((state) => ({ signer: 's', state }))
  const metrics = create({ podCertificates: () => states, credentialProvidersHash: undefined })
  assert.deepEqual(await linesOf(metrics, 'kubelet_podcertificate_states'), [
    'kubelet_podcertificate_states{signer_name="s",state="fresh"} 2',
    'kubelet_podcertificate_states{signer_name="s",state="denied"} 1',
  ])
  assert.deepEqual(await linesOf(metrics, 'kubelet_credential_provider_config_info'), [])
})

test('createMetrics() says whether stats come from the runtime', async () => {
  const sources = createMetricSources()
  const provider = async (enabled: boolean) => {
    const gates = () => [{ name: 'PodAndContainerStatsFromCRI', stage: 'ALPHA', enabled }]
    return await linesOf(createMetrics({ ...sources, node: { ...sources.node, gates } }), 'kubelet_metrics_provider')
  }
  assert.deepEqual(await provider(true), ['kubelet_metrics_provider{provider="cri"} 1'])
  assert.deepEqual(await provider(false), ['kubelet_metrics_provider{provider="cadvisor"} 1'])
})
