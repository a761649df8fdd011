import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeStatsWorld, statsMachine } from '../../../test/fakes/fake-stats-world.ts'
import { parseExposition } from '../../../test/fixtures/parse-exposition.ts'
import type { ParsedFamily } from '../../../test/fixtures/parse-exposition.ts'
import { UPSTREAM_CADVISOR_FAMILIES } from '../../../test/fixtures/upstream-cadvisor-families.ts'
import { RECORDED_POD } from '../../../test/fixtures/read-recorded-cgroups.ts'
import { computeCadvisorMetrics } from './reports/compute-cadvisor-metrics.ts'
import { computeResourceMetrics } from './reports/compute-resource-metrics.ts'
import { renderMetrics } from './reports/render-metrics.ts'
import { StatsEngine } from './stats-engine.ts'
import type { StatsPart } from './stats-snapshot.ts'

const { signal } = new AbortController()
const time = String(Date.UTC(2026, 0, 1))
const machine = {
  ...statsMachine,
  numaNodes: [
    {
      id: 0,
      memoryBytes: 4_000_000_000n,
      hugepages: [{ sizeBytes: 2_097_152n, count: 7n }],
      distances: new Map([
        [0, 10],
        [1, 20],
      ]),
    },
    { id: 1, memoryBytes: 4_100_000_000n, hugepages: [], distances: new Map() },
  ],
  caches: [
    { numaNode: 0, core: 3, level: 1, type: 'Data', sizeBytes: 32_768 },
    { numaNode: 0, core: undefined, level: 3, type: 'Unified', sizeBytes: 8_388_608 },
  ],
  memoryModules: [{ type: 'Unbuffered-DDR4', count: 2, capacityBytes: 8e9 }],
}

async function collect(version: 1 | 2, parts: readonly StatsPart[]) {
  return await new StatsEngine(new FakeStatsWorld(version).deps, signal).ask(parts, signal)
}

/** Lines such as "name{a=b} value time". */
function toLines(families: readonly ParsedFamily[]): readonly string[] {
  return families.flatMap(({ samples }) =>
    samples.map(({ name, labels, value, time: at }) => {
      const set = Object.entries(labels).map(([key, text]) => `${key}=${text}`)
      return `${name}{${set.join(',')}} ${value}${at === undefined ? '' : ` ${at}`}`
    }),
  )
}

describe('computeResourceMetrics()', () => {
  test('has what metrics-server reads, each with the time of its measurement', async () => {
    const text = await renderMetrics(computeResourceMetrics(await collect(2, ['usage'])), 'text')
    const who = 'container=main,namespace=shop,pod=web'
    assert.deepEqual(toLines(parseExposition(text)), [
      `container_cpu_usage_seconds_total{${who}} 1.365176 ${time}`,
      `container_memory_working_set_bytes{${who}} 30814208 ${time}`,
      `container_start_time_seconds{${who}} ${Date.UTC(2025, 11, 31) / 1000 + 0.5}`,
      `container_swap_limit_bytes{${who}} 0 ${time}`,
      `container_swap_usage_bytes{${who}} 0 ${time}`,
      `node_cpu_usage_seconds_total{} 5.352 ${time}`,
      `node_memory_working_set_bytes{} 46612480 ${time}`,
      `node_swap_usage_bytes{} 3145728 ${time}`,
      `pod_cpu_usage_seconds_total{namespace=shop,pod=web} 1.301917 ${time}`,
      `pod_memory_working_set_bytes{namespace=shop,pod=web} 30822400 ${time}`,
      `pod_swap_usage_bytes{namespace=shop,pod=web} 0 ${time}`,
      'resource_scrape_error{} 0',
    ])
    assert.deepEqual(
      parseExposition(text).map(({ help }) => /^\[(STABLE|ALPHA)\] /.test(help)),
      Array.from({ length: 12 }, () => true),
    )
  })

  test('shows what is on its way out when that is wanted', () => {
    const names = (options?: { showHidden: boolean }) =>
      computeResourceMetrics(undefined, options).map(({ name, samples }) => `${name} ${samples[0]?.value}`)
    assert.deepEqual(names(), ['resource_scrape_error 1'])
    assert.deepEqual(names({ showHidden: true }), ['resource_scrape_error 1', 'scrape_error 1'])
  })

  test('says that the node could not be measured', async () => {
    const text = await renderMetrics(computeResourceMetrics(undefined), 'openMetrics')
    assert.deepEqual(toLines(parseExposition(text, 'openMetrics')), ['resource_scrape_error{} 1'])
  })
})

describe('computeCadvisorMetrics()', () => {
  for (const version of [1, 2] as const)
    for (const format of ['text', 'openMetrics'] as const)
      test(`can be read by a strict reader as ${format} of cgroup v${version}`, async () => {
        const snapshot = await collect(version, ['usage', 'details', 'network'])
        const families = parseExposition(await renderMetrics(computeCadvisorMetrics(snapshot, machine), format), format)
        assert.equal(families.length > 50, true)
        const timed = families.filter(({ samples }) => samples.some((sample) => sample.time !== undefined))
        const untimed = families.filter((family) => !timed.includes(family)).map(({ name }) => name)
        assert.deepEqual(
          untimed.filter((name) => !/^(container_spec_|machine_|container_scrape_error)/.test(name)),
          ['cadvisor_version_info', 'container_start_time_seconds'],
        )
      })

  test('names the machine, all pods, the pod, its sandbox and its container', async () => {
    const snapshot = await collect(2, ['usage', 'details', 'network'])
    const families = parseExposition(await renderMetrics(computeCadvisorMetrics(snapshot, machine), 'text'))
    const of = (name: string) => toLines(families.filter((family) => family.name === name))
    const label = (id: string, container: string, [image, name, pod]: readonly string[], extra = '') =>
      `container=${container},${extra}id=${id},image=${image},name=${name},namespace=${pod === '' ? '' : 'shop'},pod=${pod}`
    const main = label(`${RECORDED_POD}/c1`, 'main', ['registry.test/app:1', 'c1', 'web'])
    const pod = label(RECORDED_POD, '', ['', '', 'web'])
    const sandbox = label(`${RECORDED_POD}/s-web`, '', ['', 's-web', 'web'])
    assert.deepEqual(of('container_memory_working_set_bytes'), [
      `container_memory_working_set_bytes{${label('/', '', ['', '', ''])}} 46612480 ${time}`,
      `container_memory_working_set_bytes{${label('/kubepods', '', ['', '', ''])}} 30838784 ${time}`,
      `container_memory_working_set_bytes{${pod}} 30822400 ${time}`,
      `container_memory_working_set_bytes{${sandbox}} 30814208 ${time}`,
      `container_memory_working_set_bytes{${main}} 30814208 ${time}`,
    ])
    assert.deepEqual(
      of('container_cpu_usage_seconds_total').at(-1),
      `container_cpu_usage_seconds_total{${main.replace('id=', 'cpu=total,id=')}} 1.365176 ${time}`,
    )
    assert.deepEqual(
      of('container_cpu_cfs_throttled_periods_total').at(-1),
      `container_cpu_cfs_throttled_periods_total{${main}} 66 ${time}`,
    )
    assert.deepEqual(
      of('container_network_receive_bytes_total').at(-1),
      `container_network_receive_bytes_total{${sandbox.replace('name=', 'interface=eth0,name=')}} 100 ${time}`,
    )
    assert.deepEqual(
      of('container_fs_writes_bytes_total').at(-1),
      `container_fs_writes_bytes_total{${main.replace('id=', 'device=/dev/loop0,id=')}} 8388608 ${time}`,
    )
    assert.deepEqual(of('container_fs_limit_bytes'), [
      `container_fs_limit_bytes{container=,device=/dev/vda,id=/,image=,name=,namespace=,pod=} 1000 ${time}`,
    ])
    assert.deepEqual(
      of('container_pressure_cpu_stalled_seconds_total').at(-1),
      `container_pressure_cpu_stalled_seconds_total{${main}} 5.34657 ${time}`,
    )
    assert.deepEqual(
      of('container_spec_memory_limit_bytes').at(-1),
      `container_spec_memory_limit_bytes{${main}} 134217728`,
    )
    assert.deepEqual(of('container_processes').slice(-3), [
      // Those of a pod are counted at its parts.
      `container_processes{${pod}} 0 ${time}`,
      `container_processes{${sandbox}} 2 ${time}`,
      `container_processes{${main}} 2 ${time}`,
    ])
    assert.deepEqual(
      ['file_descriptors', 'sockets'].map((name) => of(`container_${name}`).at(-1)),
      [`container_file_descriptors{${main}} 40 ${time}`, `container_sockets{${main}} 6 ${time}`],
    )
    assert.deepEqual(
      of('container_ulimits_soft').at(-1),
      `container_ulimits_soft{${main},ulimit=max_open_files} 1024 ${time}`,
    )
    assert.deepEqual(
      of('container_spec_cpu_period').map((line) => line.split(' ').at(-1)),
      ['100000', '100000', '100000', '100000'],
    )
    assert.deepEqual(of('container_spec_memory_limit_bytes')[0]?.split(' '), [
      `container_spec_memory_limit_bytes{${label('/', '', ['', '', ''])}}`,
      '8000000000',
    ])
    assert.deepEqual(of('machine_cpu_cores'), ['machine_cpu_cores{boot_id=b,machine_id=m,system_uuid=s} 4'])
  })

  test('has what the disk of a file system counts, once for each device', async () => {
    const snapshot = await collect(2, ['usage', 'details'])
    const families = parseExposition(await renderMetrics(computeCadvisorMetrics(snapshot, machine), 'text'))
    const root = families.flatMap(({ name, samples }) =>
      samples.flatMap(({ labels, value }) =>
        labels['id'] === '/' && labels['device'] === '/dev/vda' ? [`${name} ${value}`] : [],
      ),
    )
    assert.deepEqual(root, [
      'container_fs_inodes_free 90',
      'container_fs_inodes_total 100',
      'container_fs_io_current 19',
      'container_fs_io_time_seconds_total 20',
      'container_fs_io_time_weighted_seconds_total 21',
      'container_fs_limit_bytes 1000',
      'container_fs_read_seconds_total 14',
      'container_fs_reads_merged_total 12',
      'container_fs_reads_total 11',
      'container_fs_sector_reads_total 13',
      'container_fs_sector_writes_total 17',
      'container_fs_usage_bytes 600',
      'container_fs_write_seconds_total 18',
      'container_fs_writes_merged_total 16',
      'container_fs_writes_total 15',
    ])
  })

  test('has the families of the Go kubelet', async () => {
    const world = new FakeStatsWorld(2)
    const costs = '253:0 rbytes=1 wbytes=2 rios=3 wios=4 cost.usage=5 cost.wait=6 cost.indebt=7 cost.indelay=8\n'
    world.cgroups.set('blkio', `${RECORDED_POD}/c1`, ['io.stat', costs])
    const snapshot = await new StatsEngine(world.deps, signal).ask(['usage', 'details', 'network'], signal)
    const families = parseExposition(await renderMetrics(computeCadvisorMetrics(snapshot, machine), 'text'))
    const names = families.flatMap(({ name, samples }) => (samples.length > 0 ? [name] : []))
    assert.deepEqual(
      names.sort().filter((name) => !/^machine_(cpu_cache|node)_/.test(name)),
      UPSTREAM_CADVISOR_FAMILIES,
    )
  })

  test('describes the NUMA nodes, caches and memory modules of the machine', async () => {
    const families = parseExposition(await renderMetrics(computeCadvisorMetrics(undefined, machine), 'text'))
    const lines = toLines(families).map((line) => line.replace(/(boot_id=b,|machine_id=m,|,?system_uuid=s,?)/g, ''))
    assert.deepEqual(
      lines.filter((line) => /^machine_(cpu_cache|node|dimm|nvm_cap)/.test(line)),
      [
        'machine_cpu_cache_capacity_bytes{core_id=3,level=1,node_id=0type=Data} 32768',
        'machine_cpu_cache_capacity_bytes{core_id=,level=3,node_id=0type=Unified} 8388608',
        'machine_dimm_capacity_bytes{type=Unbuffered-DDR4} 8000000000',
        'machine_dimm_count{type=Unbuffered-DDR4} 2',
        'machine_node_distance{node_id=0target_node_id=0} 10',
        'machine_node_distance{node_id=0target_node_id=1} 20',
        'machine_node_hugepages_count{node_id=0,page_size=2048} 7',
        'machine_node_memory_capacity_bytes{node_id=0} 4000000000',
        'machine_node_memory_capacity_bytes{node_id=1} 4100000000',
        'machine_nvm_capacity{mode=memory_mode} 0',
        'machine_nvm_capacity{mode=app_direct_mode} 0',
      ],
    )
  })

  test('says that the node could not be measured, and what is known of the machine', async () => {
    const families = parseExposition(await renderMetrics(computeCadvisorMetrics(undefined, machine), 'text'))
    assert.deepEqual(
      toLines(families).filter((line) => line.includes('scrape_error')),
      ['container_scrape_error{} 1', 'machine_scrape_error{} 0'],
    )
  })
})
