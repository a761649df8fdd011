import type { StatsDeps } from '../../src/node/stats/stats-deps.ts'
import type { DockerLogs, FolderUsage } from '../../src/system/directories/stats-files.ts'
import type { ObservedPod } from '../../src/model/pod/observed-pod.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import { createInstance, createObservedPod, createObservedSandbox } from '../builders/create-observed-pod.ts'
import { RECORDED_POD, RecordedCgroups } from '../fixtures/read-recorded-cgroups.ts'
import { FakeClock } from './fake-clock.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'

const NET_DEV = `Inter-|   Receive |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0
  eth0: 100 2 0 1 0 0 0 0 50 6 0 0 0 0 0 0
`

/** What such a node is. */
export const statsMachine = {
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
  numaNodes: [],
  caches: [],
  memoryModules: [],
}

/** A node with a recorded tree of cgroups and one pod that has one container; with a journal of what was asked of others. */
export class FakeStatsWorld {
  readonly clock = new FakeClock(Date.UTC(2026, 0, 1))
  readonly cgroups: RecordedCgroups
  readonly journal: string[] = []
  readonly warnings: string[] = []
  readonly kernelFiles = new Map([
    ['/proc/stat', 'cpu 1 2\nbtime 1767200000\n'],
    ['/proc/meminfo', 'MemTotal: 8 kB\nSwapTotal: 4096 kB\nSwapFree: 1024 kB\n'],
    ['/proc/sys/kernel/pid_max', '4194304\n'],
    ['/proc/sys/kernel/threads-max', '30000\n'],
    ['/proc/loadavg', '0.20 0.18 0.12 1/80 11206\n'],
    ['/proc/self/net/dev', NET_DEV],
    ['/proc/109/net/dev', NET_DEV],
    [
      '/proc/diskstats',
      '   7  0 loop0 0 0 0 0 0 0 0 0 0 0 0\n 253  0 vda 11 12 13 14000 15 16 17 18000 19 20000 21000\n',
    ],
    ['/proc/109/limits', 'Max open files            1024                 524288               files\n'],
  ])
  pods: readonly ObservedPod[]
  failing = ''
  /** Folders and what the files in them take. */
  readonly folders = new Map<string, FolderUsage>()
  imageFolder = '/images'
  /** What was last asked for with the logs of a pod. */
  dockerLogs: DockerLogs | undefined

  constructor(version: 1 | 2 = 2) {
    this.cgroups = new RecordedCgroups(version)
    const uid = '11111111-2222-3333-4444-555555555555'
    this.pods = [this.addPod(uid, 'web')]
    this.cgroups.copy(`${RECORDED_POD}/c1`, `${RECORDED_POD}/s-web`)
  }

  /** A pod whose container is c1; its cgroups are those that the recorded tree has. */
  addPod(uid: string, name: string): ObservedPod {
    const createdAt = Date.UTC(2025, 11, 31)
    const container = {
      name: 'main',
      sandboxId: `s-${name}`,
      image: 'registry.test/app:1',
      createdAt,
      startedAt: createdAt + 500,
    }
    return createObservedPod({
      uid: parsePodUid(uid),
      name,
      namespace: 'shop',
      sandboxes: [createObservedSandbox({ id: `s-${name}`, createdAt: createdAt - 1000 })],
      containers: [createInstance({ id: 'c1', ...container })],
    })
  }

  get deps(): StatsDeps {
    const used = {
      capacityBytes: 1000,
      availableBytes: 300,
      usedBytes: 600,
      inodes: 100,
      inodesFree: 90,
      inodesUsed: 10,
    }
    return {
      observed: {
        uids: () => this.pods.map(({ uid }) => uid),
        get: (uid) => this.pods.find((pod) => pod.uid === uid),
      },
      calls: {
        listContainerStats: async () => {
          this.#do('layers')
          const layer = {
            timestamp: 1_767_225_599_000_000_000n,
            fsId: undefined,
            usedBytes: { value: 4096n },
            inodesUsed: { value: 3n },
          }
          const attributes = { id: 'c1', metadata: undefined, labels: {}, annotations: {} }
          return {
            stats: [
              { attributes, cpu: undefined, memory: undefined, swap: undefined, io: undefined, writableLayer: layer },
            ],
          }
        },
        imageFsInfo: async () => {
          this.#do('images')
          const image = {
            timestamp: 1n,
            fsId: { mountpoint: this.imageFolder },
            usedBytes: { value: 77n },
            inodesUsed: { value: 7n },
          }
          return { imageFilesystems: [image], containerFilesystems: [] }
        },
        podSandboxStatus: async ({ podSandboxId }) => {
          this.#do(`sandbox ${podSandboxId}`)
          return { status: undefined, info: { info: '{"pid":109}' }, containersStatuses: [], timestamp: 0n }
        },
        containerStatus: async ({ containerId }) => {
          this.#do(`container ${containerId}`)
          return { status: undefined, info: { info: '{"pid":109}' } }
        },
      },
      cgroups: this.cgroups,
      layout: { driver: 'cgroupfs', root: '/', perQos: true },
      files: {
        fileSystem: async (path) => {
          this.#do(`statfs ${path}`)
          return { ...used, device: '253:0' }
        },
        folder: async (path) => this.folders.get(path),
        logFolder: async (path, docker) => {
          this.#do(`list ${path}`)
          this.dockerLogs = docker
          return { own: { bytes: 10, inodes: 1 }, folders: new Map([['main', { bytes: 8192, inodes: 2 }]]) }
        },
        cutFolder: async () => undefined,
        file: async () => ({ bytes: 6, inodes: 1 }),
        kernelFile: (path) => this.kernelFiles.get(path),
        openFiles: async (_, most) => ({ files: 20, sockets: most < 20 ? undefined : 3 }),
      },
      pressure: true,
      volumes: () => [],
      systemCgroups: {},
      machine: { memoryBytes: 8_000_000_000n, swapBytes: 4_194_304n },
      rootDirectory: '/root',
      podLogsDirectory: '/logs',
      intervalMs: 10_000,
      clock: this.clock,
      log: { ...silentLogger, warn: (message) => void this.warnings.push(message) },
    }
  }

  /** What was asked since this was last read. */
  take(): readonly string[] {
    return this.journal.splice(0)
  }

  #do(line: string): void {
    this.journal.push(line)
    if (this.failing !== '' && line.startsWith(this.failing)) throw new Error('no answer')
  }
}
