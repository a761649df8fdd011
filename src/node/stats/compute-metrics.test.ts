import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeStatsWorld } from '../../../test/fakes/fake-stats-world.ts'
import { parseExposition } from '../../../test/fixtures/parse-exposition.ts'
import type { ParsedFamily } from '../../../test/fixtures/parse-exposition.ts'
import { RECORDED_POD } from '../../../test/fixtures/read-recorded-cgroups.ts'
import { computeCadvisorMetrics } from './reports/compute-cadvisor-metrics.ts'
import { computeResourceMetrics } from './reports/compute-resource-metrics.ts'
import { renderMetrics } from './reports/render-metrics.ts'
import { StatsEngine } from './stats-engine.ts'
import type { StatsPart } from './stats-snapshot.ts'

const { signal } = new AbortController()
const time = String(Date.UTC(2026, 0, 1))
const machine = {
  machineId: 'm',
  systemUuid: 's',
  bootId: 'b',
  kernelVersion: '6.1.0',
  osImage: 'Debian',
  cores: 4,
  physicalCores: 2,
  sockets: 1,
  memoryBytes: 8e9,
  swapBytes: 0,
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
    assert.deepEqual(of('container_processes').at(-1), `container_processes{${main}} 2 ${time}`)
    assert.deepEqual(of('machine_cpu_cores'), ['machine_cpu_cores{boot_id=b,machine_id=m,system_uuid=s} 4'])
  })

  test('says that the node could not be measured, and what is known of the machine', async () => {
    const families = parseExposition(await renderMetrics(computeCadvisorMetrics(undefined, machine), 'text'))
    assert.deepEqual(
      toLines(families).filter((line) => line.includes('scrape_error')),
      ['container_scrape_error{} 1', 'machine_scrape_error{} 0'],
    )
  })
})
