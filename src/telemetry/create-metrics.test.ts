import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from './create-metrics.ts'

const claimUsages = () => []
const pods = (fromNode: number) => ({ fromNode, fromApi: 1 })
const volumes = () => [{ plugin: 'kubernetes.io/empty-dir', desired: 2, actual: 1 }]
const loopDelay = { percentile: (percent: number) => percent / 1000 }

async function linesOf(metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> {
  const { body } = await metrics.render()
  return body.split('\n').filter((line) => line.startsWith(name))
}

test('createMetrics() counts the calls to the runtime, and apart from them those that failed', async () => {
  const metrics = createMetrics({
    version: 'v1',
    startedAt: 5000,
    desiredPods: () => pods(3),
    claimUsages,
    loopDelay,
    volumes,
  })
  metrics.runtimeOperation('run_podsandbox', 0.004, false)
  metrics.runtimeOperation('run_podsandbox', 0.2, true)
  assert.deepEqual(await linesOf(metrics, 'kubelet_runtime_operations_total'), [
    'kubelet_runtime_operations_total{operation_type="run_podsandbox"} 2',
  ])
  assert.deepEqual(await linesOf(metrics, 'kubelet_runtime_operations_errors_total'), [
    'kubelet_runtime_operations_errors_total{operation_type="run_podsandbox"} 1',
  ])
  const durations = await linesOf(metrics, 'kubelet_runtime_operations_duration_seconds')
  assert.equal(
    durations[0],
    'kubelet_runtime_operations_duration_seconds_bucket{le="0.005",operation_type="run_podsandbox"} 1',
  )
  assert.equal(durations.filter((line) => line.includes('_bucket')).length, 15)
  assert.ok(
    durations.includes(
      'kubelet_runtime_operations_duration_seconds_sum{operation_type="run_podsandbox"} 0.20400000000000001',
    ),
  )
})

test('createMetrics() counts and times the runs of probes', async () => {
  const metrics = createMetrics({
    version: 'v1',
    startedAt: 5000,
    desiredPods: () => pods(3),
    claimUsages,
    loopDelay,
    volumes,
  })
  metrics.probe('liveness', 'successful', 0.02)
  metrics.probe('liveness', 'failed', 1)
  assert.deepEqual(await linesOf(metrics, 'prober_probe_total'), [
    'prober_probe_total{probe_type="liveness",result="successful"} 1',
    'prober_probe_total{probe_type="liveness",result="failed"} 1',
  ])
  assert.deepEqual(await linesOf(metrics, 'prober_probe_duration_seconds_count'), [
    'prober_probe_duration_seconds_count{probe_type="liveness"} 2',
  ])
})

test('createMetrics() tells what claims take as long as they are there, and how long measuring took', async () => {
  const numbers = { capacityBytes: 1, availableBytes: 2, usedBytes: 3, inodes: 4, inodesFree: 5, inodesUsed: 6 }
  let claims = [{ namespace: 'shop', claim: 'data', ...numbers }]
  const sources = {
    version: 'v1',
    startedAt: 5000,
    desiredPods: () => pods(3),
    loopDelay,
    volumes,
    claimUsages: () => claims,
  }
  const metrics = createMetrics(sources)
  metrics.volumeMeasured('du', 0.2)
  const labels = '{namespace="shop",persistentvolumeclaim="data"}'
  assert.deepEqual(await linesOf(metrics, 'kubelet_volume_stats_'), [
    `kubelet_volume_stats_capacity_bytes${labels} 1`,
    `kubelet_volume_stats_available_bytes${labels} 2`,
    `kubelet_volume_stats_used_bytes${labels} 3`,
    `kubelet_volume_stats_inodes${labels} 4`,
    `kubelet_volume_stats_inodes_free${labels} 5`,
    `kubelet_volume_stats_inodes_used${labels} 6`,
  ])
  assert.deepEqual(await linesOf(metrics, 'kubelet_volume_metric_collection_duration_seconds_sum'), [
    'kubelet_volume_metric_collection_duration_seconds_sum{metric_source="du"} 0.2',
  ])
  claims = []
  assert.deepEqual(await linesOf(metrics, 'kubelet_volume_stats_'), [])
})

test('createMetrics() counts starts of containers, sandboxes and pods', async () => {
  const metrics = createMetrics({
    version: 'v1',
    startedAt: 5000,
    desiredPods: () => pods(3),
    claimUsages,
    loopDelay,
    volumes,
  })
  metrics.containerStart('init', undefined)
  metrics.containerStart('regular', 'ErrImagePull')
  metrics.sandboxStart(false)
  metrics.sandboxStart(true)
  metrics.podStart(7)
  assert.deepEqual(await linesOf(metrics, 'kubelet_started_'), [
    'kubelet_started_containers_total{container_type="init_container"} 1',
    'kubelet_started_containers_total{container_type="container"} 1',
    'kubelet_started_containers_errors_total{container_type="container",code="ErrImagePull"} 1',
    'kubelet_started_pods_total 2',
    'kubelet_started_pods_errors_total 1',
  ])
  const buckets = await linesOf(metrics, 'kubelet_pod_start_duration_seconds_bucket')
  assert.deepEqual(
    [buckets.length, buckets[6], buckets[7]],
    [26, 'kubelet_pod_start_duration_seconds_bucket{le="6"} 0', 'kubelet_pod_start_duration_seconds_bucket{le="8"} 1'],
  )
})

test('createMetrics() reads what is true when it is asked', async () => {
  let desired = 3
  const metrics = createMetrics({
    version: 'v1',
    startedAt: 5000,
    desiredPods: () => pods(desired),
    claimUsages,
    loopDelay,
    volumes,
  })
  const desiredLines = (count: number) => [
    `kubelet_desired_pods{static="true"} ${count}`,
    'kubelet_desired_pods{static=""} 1',
  ]
  assert.deepEqual(await linesOf(metrics, 'kubelet_desired_pods'), desiredLines(3))
  desired = 4
  metrics.relist(0.1)
  assert.deepEqual(await linesOf(metrics, 'kubelet_desired_pods'), desiredLines(4))
  assert.deepEqual(await linesOf(metrics, 'kubelet_pleg_relist_duration_seconds_count'), [
    'kubelet_pleg_relist_duration_seconds_count 1',
  ])
  assert.deepEqual(await linesOf(metrics, 'process_start_time_seconds'), ['process_start_time_seconds 5'])
  assert.deepEqual(await linesOf(metrics, 'kubernetes_build_info'), ['kubernetes_build_info{git_version="v1"} 1'])
})

test('createMetrics() tells what the process uses; its processor time only ever grows', async () => {
  const metrics = createMetrics({
    version: 'v1',
    startedAt: 0,
    desiredPods: () => pods(0),
    claimUsages,
    loopDelay,
    volumes,
  })
  const cpu = async () => Number((await linesOf(metrics, 'process_cpu_seconds_total'))[0]?.split(' ')[1])
  const before = await cpu()
  assert.ok(before > 0 && (await cpu()) >= before)
  const { type, body } = await metrics.render()
  assert.match(type, /^text\/plain/)
  assert.match(body, /# TYPE process_cpu_seconds_total counter/)
  for (const name of ['process_resident_memory_bytes', 'nodejs_heap_size_used_bytes', 'nodejs_active_resources'])
    assert.ok(Number((await linesOf(metrics, name))[0]?.split(' ')[1]) > 0, name)
})

test('createMetrics() may be called twice: nothing is shared', async () => {
  const sources = { version: 'v1', startedAt: 0, desiredPods: () => pods(0), claimUsages, loopDelay, volumes }
  const [first, second] = [createMetrics(sources), createMetrics(sources)]
  first.runtimeOperation('version', 1, false)
  assert.deepEqual(await linesOf(second, 'kubelet_runtime_operations_total'), [])
})

test('createMetrics() counts what is done with volumes', async () => {
  const metrics = createMetrics({
    version: 'v1',
    startedAt: 5000,
    desiredPods: () => pods(3),
    claimUsages,
    loopDelay,
    volumes,
  })
  metrics.storageOperation('kubernetes.io/empty-dir', 'volume_mount', 0.2, false)
  metrics.storageOperation('kubernetes.io/empty-dir', 'volume_mount', 3, true)
  metrics.volumeFound(true)
  metrics.volumeFound(false)
  metrics.foreignVolumeCleaned(false)
  metrics.foreignVolumeCleaned(true)
  metrics.orphanVolumes(3, 1)
  const labels = 'volume_plugin="kubernetes.io/empty-dir",operation_name="volume_mount"'
  assert.deepEqual(await linesOf(metrics, 'storage_operation_duration_seconds_count'), [
    `storage_operation_duration_seconds_count{${labels},status="success",migrated="false"} 1`,
    `storage_operation_duration_seconds_count{${labels},status="fail-unknown",migrated="false"} 1`,
  ])
  assert.deepEqual(await linesOf(metrics, 'volume_manager_total_volumes'), [
    'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="desired_state_of_world"} 2',
    'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="actual_state_of_world"} 1',
  ])
  assert.deepEqual(await linesOf(metrics, 'reconstruct_volume'), [
    'reconstruct_volume_operations_total 2',
    'reconstruct_volume_operations_errors_total 1',
  ])
  assert.deepEqual(await linesOf(metrics, 'force_cleaned'), [
    'force_cleaned_failed_volume_operations_total 2',
    'force_cleaned_failed_volume_operation_errors_total 1',
  ])
  assert.deepEqual(await linesOf(metrics, 'kubelet_orphan_pod'), [
    'kubelet_orphan_pod_cleaned_volumes 3',
    'kubelet_orphan_pod_cleaned_volumes_errors 1',
  ])
})
