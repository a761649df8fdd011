import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeStatsWorld, statsMachine } from '../../../../test/fakes/fake-stats-world.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import {
  ListMetricDescriptorsResponse,
  ListPodSandboxMetricsResponse,
  ListPodSandboxStatsResponse,
} from '../../../protocols/cri/generated/runtime-v1.ts'
import { computeCadvisorMetrics } from '../reports/compute-cadvisor-metrics.ts'
import { computeSummary } from '../reports/compute-summary.ts'
import { StatsEngine } from '../stats-engine.ts'
import { RuntimeStats } from './runtime-stats.ts'
import type { RuntimeStatsDeps } from './runtime-stats.ts'

const { signal } = new AbortController()
const AT = 1_767_225_600_000_000_000n
const value = (number: bigint | number) => ({ value: BigInt(number) })
const psi = { Full: { Total: 5n, Avg10: 1, Avg60: 2, Avg300: 3 }, Some: { Total: 6n, Avg10: 4, Avg60: 5, Avg300: 6 } }
function setUp(_: TestContext, given: Partial<RuntimeStatsDeps['calls']> = {}) {
  const world = new FakeStatsWorld(2)
  const [pod] = world.pods
  assert.ok(pod)
  let nanos = 1_000_000_000n
  const calls: RuntimeStatsDeps['calls'] = {
    listPodSandboxStats: async () => {
      nanos += 500_000_000n
      return ListPodSandboxStatsResponse.fromPartial({
        stats: [
          {
            attributes: { id: pod.sandboxes[0]?.id ?? '' },
            linux: {
              cpu: { timestamp: AT, usageCoreNanoSeconds: value(nanos), usageNanoCores: value(7), psi },
              memory: {
                timestamp: AT,
                workingSetBytes: value(100),
                availableBytes: value(50),
                usageBytes: value(120),
                rssBytes: value(80),
                pageFaults: value(9),
                majorPageFaults: value(1),
              },
              network: {
                timestamp: AT,
                defaultInterface: { name: 'eth0', rxBytes: value(1), txBytes: value(2) },
                interfaces: [{ name: 'eth0' }, { name: 'eth1', rxErrors: value(3) }],
              },
              process: { timestamp: AT, processCount: value(4) },
              containers: [
                {
                  attributes: { id: 'c1' },
                  cpu: { timestamp: AT, usageCoreNanoSeconds: value(nanos) },
                  memory: { timestamp: AT, workingSetBytes: value(90) },
                  swap: { timestamp: AT, swapUsageBytes: value(10), swapAvailableBytes: value(20) },
                },
              ],
            },
          },
        ],
      })
    },
    listMetricDescriptors: async () =>
      ListMetricDescriptorsResponse.fromPartial({
        descriptors: [
          { name: 'container_x_total', help: 'X.', labelKeys: ['pod', 'id'] },
          { name: 'container_unused', help: 'U.', labelKeys: [] },
        ],
      }),
    listPodSandboxMetrics: async () =>
      ListPodSandboxMetricsResponse.fromPartial({
        podMetrics: [
          {
            metrics: [
              { name: 'container_x_total', labelValues: ['web', 'p'], value: value(1), timestamp: AT },
              { name: 'container_x_total', labelValues: ['too few'], value: value(1) },
              { name: 'container_not_described', value: value(1) },
            ],
            containerMetrics: [
              {
                containerId: 'c1',
                metrics: [{ name: 'container_x_total', labelValues: ['web', 'c'], value: value(2) }],
              },
            ],
          },
        ],
      }),
    ...given,
  }
  const runtimeStats = new RuntimeStats({ calls, log: world.deps.log })
  const engine = new StatsEngine({ ...world.deps, runtimeStats }, signal)
  const summary = async () =>
    computeSummary(await engine.ask(['usage', 'network', 'disk'], signal, 0), {
      nodeName: 'n',
      onlyCpuAndMemory: false,
    })
  return { world, engine, summary }
}

describe('stats of the runtime', () => {
  test('are read pod by pod where the list of all is too large to be sent, and metrics are left out', async (t) => {
    const tooLarge = (method: string) => new CriCallError(method, 'ResourceExhausted', 'message larger than max')
    const asked: unknown[] = []
    const { engine, world, summary } = setUp(t, {
      listPodSandboxStats: async ({ filter }) => {
        if (filter === undefined) throw tooLarge('listPodSandboxStats')
        asked.push(filter.labelSelector)
        const id = world.pods.find(({ uid }) => uid === filter.labelSelector?.['io.kubernetes.pod.uid'])?.sandboxes[0]
          ?.id
        const memory = { timestamp: AT, workingSetBytes: value(100) }
        return ListPodSandboxStatsResponse.fromPartial({
          stats: [{ attributes: { id: id ?? '' }, linux: { memory, containers: [] } }],
        })
      },
      listPodSandboxMetrics: async () => {
        throw tooLarge('listPodSandboxMetrics')
      },
    })
    const { pods } = await summary()
    assert.equal(pods[0]?.memory?.workingSetBytes, 100)
    assert.equal(asked.length, world.pods.length)
    const names = [...computeCadvisorMetrics(await engine.ask(['usage', 'details'], signal, 0), statsMachine)]
    assert.ok(names.length > 0 && names.every(({ name }) => name.startsWith('machine_')))
    assert.deepEqual(world.warnings, [
      'the runtime cannot send its metrics of pods, /metrics/cadvisor shows the machine alone',
    ])
  })

  test('are what the summary says of pods', async (t) => {
    const { world, summary } = setUp(t)
    await summary()
    await world.clock.advance(10_000)
    const [pod] = (await summary()).pods
    const time = '2026-01-01T00:00:00Z'
    assert.deepEqual(pod?.cpu, {
      time,
      usageNanoCores: 7,
      usageCoreNanoSeconds: 2_000_000_000,
      psi: {
        full: { total: 5, avg10: 1, avg60: 2, avg300: 3 },
        some: { total: 6, avg10: 4, avg60: 5, avg300: 6 },
      },
    })
    assert.deepEqual(
      [pod.memory?.workingSetBytes, pod.memory?.availableBytes, pod.memory?.rssBytes, pod.memory?.usageBytes],
      [100, 50, 80, 120],
    )
    assert.deepEqual([pod.swap?.swapUsageBytes, pod.swap?.swapAvailableBytes], [10, 20])
    assert.deepEqual(pod.process_stats, { process_count: 4 })
    assert.deepEqual(
      [pod.network?.name, pod.network?.rxBytes, pod.network?.interfaces?.map(({ name }) => name)],
      ['eth0', 1, ['eth0', 'eth1']],
    )
    const [container] = pod.containers
    assert.equal(container?.cpu?.usageNanoCores, 50_000_000, 'by the sum, where the runtime does not report it')
    assert.deepEqual([container.memory?.workingSetBytes, container.memory?.availableBytes], [90, undefined])
    assert.equal(container.rootfs?.usedBytes, 4096)
    assert.equal(world.cgroups.reads > 0, true, 'the node is still measured')
  })

  test('come from cgroups where the runtime has none, which is said once', async (t) => {
    const missing = async () => {
      throw new CriCallError('listPodSandboxStats', 'Unimplemented', 'not here')
    }
    const { world, summary } = setUp(t, { listPodSandboxStats: missing })
    const [pod] = (await summary()).pods
    await summary()
    assert.notEqual(pod?.memory?.workingSetBytes, undefined)
    assert.deepEqual(world.warnings, ['the runtime has no stats of pods, reading their cgroups'])
  })

  test('that cannot be had now are a failure, not another source', async (t) => {
    const { summary } = setUp(t, {
      listPodSandboxStats: async () => {
        throw new CriCallError('listPodSandboxStats', 'Unavailable', 'gone')
      },
    })
    await assert.rejects(summary(), { code: 'Unavailable' })
  })

  test('are what scrapers get, beside the machine', async (t) => {
    const { engine } = setUp(t)
    const families = [
      ...computeCadvisorMetrics(await engine.ask(['usage', 'details', 'network'], signal), statsMachine),
    ].filter(({ name }) => !name.startsWith('machine_'))
    assert.deepEqual(families, [
      {
        name: 'container_x_total',
        help: 'X.',
        type: 'counter',
        samples: [
          { labels: 'id="p",pod="web"', value: 1, time: 1_767_225_600_000 },
          { labels: 'id="c",pod="web"', value: 2 },
        ],
      },
    ])
  })

  test('for scrapers are the machine alone where the runtime has no metrics', async (t) => {
    const { world, engine } = setUp(t, {
      listMetricDescriptors: async () => {
        throw new CriCallError('listMetricDescriptors', 'Unimplemented', 'not here')
      },
    })
    const names = [...computeCadvisorMetrics(await engine.ask(['usage', 'details'], signal), statsMachine)].map(
      (f) => f.name,
    )
    assert.equal(names.length > 0 && names.every((name) => name.startsWith('machine_')), true)
    assert.deepEqual(world.warnings, ['the runtime has no metrics of pods, /metrics/cadvisor shows the machine alone'])
  })
})
