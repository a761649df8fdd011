import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RECORDED_POD, RecordedCgroups } from '../../../test/fixtures/read-recorded-cgroups.ts'
import { readCgroupV1 } from './sampling/read-cgroup-v1.ts'
import { readCgroupV2 } from './sampling/read-cgroup-v2.ts'

const all = { extent: 'all', details: true, pressure: true } as const
const usage = { extent: 'all', details: false, pressure: false } as const

describe('readCgroupV2()', () => {
  test('reads all of a container', () => {
    const none = { avg10: 0, avg60: 0, avg300: 0, total: 0 }
    const io = { avg10: 0.48, avg60: 0.12, avg300: 0.02, total: 85_508 }
    assert.deepEqual(readCgroupV2(new RecordedCgroups(2), `${RECORDED_POD}/c1`, all), {
      cpu: {
        usageNanos: 1_365_176_000,
        pressure: {
          some: { avg10: 47.29, avg60: 10.27, avg300: 2.21, total: 6_073_169 },
          full: { avg10: 39.37, avg60: 8.67, avg300: 1.87, total: 5_346_570 },
        },
      },
      memory: {
        usageBytes: 39_202_816,
        workingSetBytes: 30_814_208,
        rssBytes: 21_168_128,
        cacheBytes: 16_793_600,
        mappedBytes: 0,
        activeFileBytes: 8192,
        inactiveFileBytes: 8_388_608,
        pageFaults: 1127,
        majorPageFaults: 0,
        ownPageFaults: 1127,
        ownMajorPageFaults: 0,
        limitBytes: 134_217_728,
        pressure: { some: none, full: none },
      },
      swap: { usageBytes: 0, limitBytes: 0 },
      io: { pressure: { some: io, full: io } },
      details: {
        cpuUserSeconds: 0.629652,
        cpuSystemSeconds: 0.735523,
        cpuShares: 2597,
        cpuPeriodMicros: 100_000,
        throttling: {
          quotaMicros: 20_000,
          periods: 71,
          throttledPeriods: 66,
          throttledSeconds: 5.067336,
          burstPeriods: 0,
          burstSeconds: 0,
        },
        memoryMaxUsageBytes: 39_202_816,
        memoryFailures: 0,
        memoryKernelBytes: 1_097_728,
        memoryReservationBytes: 0,
        swapLimitBytes: 0,
        oomKills: 0,
        threads: 2,
        threadsLimit: 100,
        disks: [
          {
            device: '7:0',
            bytes: { Read: 2048, Write: 8_388_608 },
            operations: { Read: 2, Write: 8 },
            cost: undefined,
          },
        ],
      },
    })
  })

  test('counts the memory of the root, which has no sum of its own', () => {
    const { memory, swap, details } = readCgroupV2(new RecordedCgroups(2), '/', all)
    assert.deepEqual(
      [memory?.usageBytes, memory?.workingSetBytes, memory?.limitBytes, swap, details?.threads],
      [21_585_920 + 33_415_168, 21_585_920 + 33_415_168 - 8_388_608, undefined, undefined, undefined],
    )
  })

  test('reads few files when little is wanted', () => {
    const cgroups = new RecordedCgroups(2)
    const { cpu, io, details } = readCgroupV2(cgroups, RECORDED_POD, usage)
    assert.deepEqual([cpu, io, details], [{ usageNanos: 1_301_917_000, pressure: undefined }, undefined, undefined])
    assert.equal(cgroups.reads, 6)
  })

  test('finds nothing in a cgroup that is gone', () => {
    assert.deepEqual(readCgroupV2(new RecordedCgroups(2), '/gone', usage), {
      cpu: undefined,
      memory: undefined,
      swap: undefined,
      io: undefined,
      details: undefined,
    })
  })
})

describe('readCgroupV1()', () => {
  test('reads all of a container', () => {
    assert.deepEqual(readCgroupV1(new RecordedCgroups(1), `${RECORDED_POD}/c1`, all), {
      cpu: { usageNanos: 418_126_619, pressure: undefined },
      memory: {
        usageBytes: 21_762_048,
        workingSetBytes: 21_762_048,
        rssBytes: 21_188_608,
        cacheBytes: 0,
        mappedBytes: 0,
        activeFileBytes: 0,
        inactiveFileBytes: 0,
        pageFaults: 5699,
        majorPageFaults: 0,
        ownPageFaults: 5699,
        ownMajorPageFaults: 0,
        limitBytes: 134_217_728,
        pressure: undefined,
      },
      swap: { usageBytes: 0, limitBytes: 0 },
      io: { pressure: undefined },
      details: {
        cpuUserSeconds: 0,
        cpuSystemSeconds: 0.41,
        cpuShares: 512,
        cpuPeriodMicros: 100_000,
        throttling: {
          quotaMicros: 20_000,
          periods: 20,
          throttledPeriods: 20,
          throttledSeconds: 1.425801083,
          burstPeriods: 0,
          burstSeconds: 0,
        },
        memoryMaxUsageBytes: 21_762_048,
        memoryFailures: 0,
        memoryKernelBytes: 212_992,
        memoryReservationBytes: undefined,
        swapLimitBytes: 134_217_728,
        oomKills: 0,
        threads: 2,
        threadsLimit: 100,
        disks: [],
      },
    })
  })

  test('counts the root with all that is below it, and knows that nothing limits it', () => {
    const { memory, swap, details } = readCgroupV1(new RecordedCgroups(1), '/', all)
    assert.deepEqual(
      [memory?.usageBytes, memory?.workingSetBytes, memory?.rssBytes, memory?.ownPageFaults, memory?.limitBytes],
      [3_017_580_544, 3_017_580_544 - 1_507_356_672, 77_488_128, 375_419, undefined],
    )
    assert.deepEqual([swap, details?.throttling], [{ usageBytes: 0, limitBytes: undefined }, undefined])
  })

  test('counts what a cgroup itself reads and writes where the kernel does not add up those below', () => {
    const cgroups = new RecordedCgroups(1)
    for (const file of ['io_service_bytes', 'io_serviced']) {
      cgroups.files.delete(`blkio${RECORDED_POD}/c1/blkio.throttle.${file}_recursive`)
      cgroups.set('blkio', `${RECORDED_POD}/c1`, [`blkio.throttle.${file}`, '8:0 Read 4096\nTotal 4096\n'])
    }
    const { details } = readCgroupV1(cgroups, `${RECORDED_POD}/c1`, all)
    const read = { Read: 4096 }
    assert.deepEqual(details?.disks, [{ device: '8:0', bytes: read, operations: read, cost: undefined }])
  })

  test('knows the period of the quota of a cgroup that has none', () => {
    assert.equal(readCgroupV1(new RecordedCgroups(1), '/', all).details?.cpuPeriodMicros, 100_000)
    assert.equal(readCgroupV2(new RecordedCgroups(2), '/kubepods', all).details?.cpuPeriodMicros, 100_000)
  })

  test('says nothing of swap where the kernel does not count it', () => {
    const cgroups = new RecordedCgroups(1)
    cgroups.files.delete('memory/memory.memsw.limit_in_bytes')
    assert.equal(readCgroupV1(cgroups, '/', usage).swap, undefined)
  })
})

for (const [version, read] of [
  [1, readCgroupV1],
  [2, readCgroupV2],
] as const)
  test(`readCgroupV${version}() reads what is wanted and no other file`, () => {
    const whole = read(new RecordedCgroups(version), `${RECORDED_POD}/c1`, usage)
    const rows = [
      { extent: 'cpu', memory: undefined, reads: 1 },
      { extent: 'memory', memory: { ...whole.memory, limitBytes: undefined }, reads: 3 },
    ] as const
    for (const { extent, memory, reads } of rows) {
      const cgroups = new RecordedCgroups(version)
      // Pressure is in files of its own.
      const sample = read(cgroups, `${RECORDED_POD}/c1`, { extent, details: false, pressure: true })
      assert.deepEqual(sample, { cpu: whole.cpu, memory, swap: undefined, io: undefined, details: undefined })
      assert.equal(cgroups.reads, reads)
    }
  })
