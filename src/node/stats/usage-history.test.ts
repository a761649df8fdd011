import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { StatsSnapshot } from './stats-snapshot.ts'
import { UsageHistory } from './usage-history.ts'

const MINUTE = 60_000

function snapshot(time: number, pods: Readonly<Record<string, number>> = {}): StatsSnapshot {
  const cgroup = (workingSetBytes: number) => ({
    nanoCores: 5e8,
    sample: { cpu: { usageNanos: 1, pressure: { some: { avg10: 2.5 } } }, memory: { workingSetBytes } },
  })
  return {
    time,
    node: {
      root: cgroup(100),
      memoryCapacityBytes: 1000,
      fs: { capacityBytes: 50, availableBytes: 20 },
      processes: { count: 7, limit: 99 },
    },
    pods: Object.entries(pods).map(([uid, bytes]) => ({ uid, cgroup: cgroup(bytes) })),
  } as unknown as StatsSnapshot
}

describe('UsageHistory', () => {
  test('keeps what snapshots say, with nothing in place of what was not there', () => {
    const history = new UsageHistory()
    history.add(snapshot(MINUTE, { a: 1 }))
    history.add(snapshot(2 * MINUTE, { a: 2, b: 3 }))
    history.add(snapshot(3 * MINUTE, { b: 4 }))
    const { times, node, pods } = history.columns()
    assert.deepEqual(times, [MINUTE, 2 * MINUTE, 3 * MINUTE])
    assert.deepEqual([node.cpuCores[0], node.memoryBytes[0], node.memoryTotalBytes[0]], [0.5, 100, 1000])
    assert.deepEqual([node.diskBytes[0], node.diskTotalBytes[0], node.processes[0]], [30, 50, 7])
    assert.deepEqual([node.cpuPressure[0], node.memoryPressure[0], node.ioPressure[0]], [2.5, null, null])
    assert.deepEqual(pods['a'], { cpuCores: [0.5, 0.5, null], memoryBytes: [1, 2, null] })
    assert.deepEqual(pods['b']?.memoryBytes, [null, 3, 4])
  })

  test('forgets what is older than an hour, and pods with it', () => {
    const history = new UsageHistory()
    history.add(snapshot(0, { old: 1 }))
    for (let minute = 1; minute <= 90; minute += 1) history.add(snapshot(minute * MINUTE, { a: 1 }))
    const { times, pods } = history.columns()
    assert.deepEqual([times.length, times[0], Object.keys(pods)], [60, 31 * MINUTE, ['a']])
  })

  test('is bounded, however often something is measured; a clock that is set back begins it again', () => {
    const history = new UsageHistory()
    for (let second = 0; second <= 7200; second += 1) history.add(snapshot(second * 1000))
    assert.equal(history.columns().times.length, 144)
    history.add(snapshot(5000))
    assert.deepEqual(history.columns().times, [5000])
  })
})
