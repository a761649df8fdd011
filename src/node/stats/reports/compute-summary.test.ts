import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeStatsWorld } from '../../../../test/fakes/fake-stats-world.ts'
import { computeSummary } from './compute-summary.ts'
import { StatsEngine } from '../stats-engine.ts'

const { signal } = new AbortController()
const time = '2026-01-01T00:00:00Z'

/** As a client gets it: without what is undefined. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

const zero = { total: 0, avg10: 0, avg60: 0, avg300: 0 }
const psi = { full: zero, some: zero }

describe('computeSummary()', () => {
  test('reports the node and its pods', async () => {
    const world = new FakeStatsWorld()
    const pvcRef = { namespace: 'shop', name: 'data' }
    const whole = { capacityBytes: 9, availableBytes: 8, usedBytes: 7, inodes: 6, inodesFree: 5, inodesUsed: 4 }
    const [{ uid } = { uid: undefined }] = world.pods
    assert.ok(uid)
    const volumes = [
      { ...whole, time: world.clock.now(), volume: { uid, name: 'claim', pvcRef, isLocalEphemeral: false } },
      { ...whole, time: world.clock.now(), volume: { uid, name: 'cache', pvcRef: undefined, isLocalEphemeral: true } },
    ]
    world.cgroups.copy('/kubepods', '/agent')
    world.cgroups.set('memory', '/kubepods', ['memory.max', '50000000\n'])
    const deps = { ...world.deps, volumes: () => volumes, systemCgroups: { kubelet: '/agent' } }
    const snapshot = await new StatsEngine(deps, signal).ask(['usage', 'network', 'disk'], signal)
    const summary = computeSummary(snapshot, { nodeName: 'node-1', onlyCpuAndMemory: false })
    const { node, pods } = asJson(summary) as { node: Record<string, unknown>; pods: Record<string, unknown>[] }
    const interfaces = [{ name: 'eth0', rxBytes: 100, rxErrors: 0, txBytes: 50, txErrors: 0 }]
    const network = { time, ...interfaces[0], interfaces }
    const fs = {
      time,
      availableBytes: 300,
      capacityBytes: 1000,
      usedBytes: 600,
      inodesFree: 90,
      inodes: 100,
      inodesUsed: 10,
    }
    const imageFs = { ...fs, usedBytes: 77, inodesUsed: 7 }
    const { systemContainers, cpu, memory, io, ...rest } = node
    assert.deepEqual(rest, {
      nodeName: 'node-1',
      startTime: '2025-12-31T16:53:20Z',
      network,
      fs,
      runtime: { imageFs, containerFs: imageFs },
      rlimit: { time, maxpid: 30_000, curproc: 80 },
      swap: { time, swapAvailableBytes: 1_048_576, swapUsageBytes: 3_145_728 },
    })
    assert.deepEqual(
      [cpu, io],
      [
        {
          time,
          usageCoreNanoSeconds: 5_352_000_000,
          psi: { full: zero, some: { avg10: 32.73, avg60: 7.21, avg300: 1.56, total: 6_495_466 } },
        },
        { time, psi: { full: zero, some: { avg10: 0.72, avg60: 0.13, avg300: 0.02, total: 85_516 } } },
      ],
    )
    assert.deepEqual(memory, {
      time,
      availableBytes: 8_000_000_000 - 46_612_480,
      usageBytes: 55_001_088,
      workingSetBytes: 46_612_480,
      rssBytes: 21_585_920,
      pageFaults: 4134,
      majorPageFaults: 0,
      psi: { full: zero, some: zero },
    })
    assert.deepEqual(
      (systemContainers as { name: string; memory: { availableBytes?: number } }[]).map(
        ({ name, memory: { availableBytes } }) => [name, availableBytes],
      ),
      // The machine is no limit of theirs.
      [
        ['kubelet', undefined],
        ['pods', 50_000_000 - (39_227_392 - 8_388_608)],
      ],
    )

    const [pod] = pods
    const volume = { time, ...whole }
    assert.deepEqual(Object.keys(pod ?? {}).sort(), [
      'containers',
      'cpu',
      'ephemeral-storage',
      'io',
      'memory',
      'network',
      'podRef',
      'process_stats',
      'startTime',
      'swap',
      'volume',
    ])
    assert.deepEqual(
      [pod?.['podRef'], pod?.['startTime'], pod?.['network'], pod?.['process_stats'], pod?.['swap'], pod?.['volume']],
      [
        { name: 'web', namespace: 'shop', uid },
        '2025-12-30T23:59:59Z',
        network,
        { process_count: 2 },
        { time, swapUsageBytes: 0 },
        [
          { ...volume, name: 'cache' },
          { ...volume, name: 'claim', pvcRef },
        ],
      ],
    )
    // The layer, the log, the volume that is the pod's own, the log beside, and the hosts file.
    assert.deepEqual(pod?.['ephemeral-storage'], {
      ...fs,
      usedBytes: 4096 + 8192 + 7 + 10 + 6,
      inodesUsed: 3 + 2 + 4 + 1 + 1,
    })
    const [container] = (pod?.['containers'] ?? []) as Record<string, unknown>[]
    assert.deepEqual(
      [container?.['name'], container?.['startTime'], container?.['rootfs'], container?.['logs'], container?.['swap']],
      [
        'main',
        '2025-12-31T00:00:00Z',
        { ...imageFs, time: '2025-12-31T23:59:59Z', usedBytes: 4096, inodesUsed: 3 },
        { ...fs, usedBytes: 8192, inodesUsed: 2 },
        { time, swapAvailableBytes: 0, swapUsageBytes: 0 },
      ],
    )
  })

  test('reports cpu and memory alone when that is asked for', async () => {
    const world = new FakeStatsWorld()
    const snapshot = await new StatsEngine({ ...world.deps, pressure: false }, signal).ask(['usage'], signal)
    const summary = asJson(computeSummary(snapshot, { nodeName: 'node-1', onlyCpuAndMemory: true })) as {
      node: object
      pods: [{ containers: [object] }]
    }
    const [pod] = summary.pods
    assert.deepEqual(
      [summary.node, pod, pod.containers[0]].map((part) => Object.keys(part).sort()),
      [
        ['cpu', 'memory', 'nodeName', 'startTime', 'swap', 'systemContainers'],
        ['containers', 'cpu', 'memory', 'podRef', 'startTime', 'swap'],
        ['cpu', 'memory', 'name', 'startTime', 'swap'],
      ],
    )
    assert.deepEqual(pod.containers[0], {
      name: 'main',
      startTime: '2025-12-31T00:00:00Z',
      cpu: { time, usageCoreNanoSeconds: 1_365_176_000, psi },
      memory: {
        time,
        availableBytes: 134_217_728 - 30_814_208,
        usageBytes: 39_202_816,
        workingSetBytes: 30_814_208,
        rssBytes: 21_168_128,
        pageFaults: 1127,
        majorPageFaults: 0,
        psi,
      },
      swap: { time, swapAvailableBytes: 0, swapUsageBytes: 0 },
    })
  })

  test('reports no pressure, but reports it, where the kernel does not count it', async () => {
    const world = new FakeStatsWorld(1)
    const snapshot = await new StatsEngine(world.deps, signal).ask(['usage'], signal)
    const summary = computeSummary(snapshot, { nodeName: 'node-1', onlyCpuAndMemory: false })
    const container = summary.pods[0]?.containers[0]
    assert.deepEqual([container?.cpu?.psi, container?.memory?.psi, container?.io?.psi], [psi, psi, psi])
    assert.deepEqual([summary.node.cpu?.psi, summary.node.memory?.psi, summary.node.io?.psi], [psi, psi, psi])
  })
})
