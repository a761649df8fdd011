import type { MemorySample } from '../../src/node/stats/sampling/cgroup-sample.ts'
import type { CgroupUsage, ContainerUsage, PodUsage, StatsSnapshot } from '../../src/node/stats/stats-snapshot.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'

const MIB = 2 ** 20

/** What a test says about a pod's usage; all in MiB, except numbers of files. */
export interface PodUse {
  readonly uid: string
  readonly memory?: number | undefined
  readonly processes?: number
  readonly rootfs?: number
  readonly logs?: number
  readonly own?: number
  readonly volumes?: Readonly<Record<string, number>>
  readonly inodes?: number
}

/** What a test says of its node; in MiB. */
export interface NodeUse {
  readonly memoryLeft?: number
  readonly podsMemory?: { readonly used: number; readonly limit?: number }
  readonly diskLeft?: number
  readonly inodesFree?: number
  readonly images?: { readonly left?: number; readonly device?: string } | undefined
  readonly containersDevice?: string
  readonly processes?: { readonly limit: number; readonly count: number }
  readonly pods?: readonly PodUse[]
  readonly time?: number
}

const CAPACITY = 1000 * MIB

/** A node with 1000 MiB of everything, on one disk, of which half is left. */
export function createStatsSnapshot(use: NodeUse = {}): StatsSnapshot {
  const { memoryLeft = 500, podsMemory, diskLeft = 500, inodesFree = 500, processes, pods = [], time = 0 } = use
  const images = 'images' in use ? use.images : {}
  const fs = toFs(diskLeft, inodesFree)
  return {
    time,
    parts: new Set(['usage', 'disk']),
    node: {
      startedAt: 0,
      memoryCapacityBytes: CAPACITY,
      swap: { usageBytes: 0, capacityBytes: 0 },
      root: toCgroup('/', CAPACITY - memoryLeft * MIB),
      system:
        podsMemory === undefined
          ? []
          : [{ name: 'pods', cgroup: toCgroup('/kubepods', podsMemory.used * MIB, podsMemory.limit) }],
      qos: [],
      interfaces: [],
      fs: { ...fs, device: '8:1' },
      imageFs:
        images === undefined
          ? undefined
          : { ...toFs(images.left ?? diskLeft, inodesFree), mountPoint: '/images', device: images.device ?? '8:1' },
      containerFs:
        use.containersDevice === undefined ? undefined : { ...fs, mountPoint: '/layers', device: use.containersDevice },
      processes: processes ?? { limit: 1000, count: 500 },
      disks: new Map(),
    },
    pods: pods.map(createPodUsage),
  }
}

/** One container "main" uses all of it. */
export function createPodUsage(use: PodUse): PodUsage {
  const { uid, logs = 0, rootfs = 0, own = 0, volumes = {}, inodes = 0 } = use
  const memory = 'memory' in use ? use.memory : 0
  const cgroup = memory === undefined ? undefined : toCgroup(`/${uid}`, memory * MIB)
  const container: ContainerUsage = {
    id: `c-${uid}`,
    name: 'main',
    image: '',
    createdAt: 0,
    startedAt: 0,
    cgroup,
    processes: use.processes,
    rootfs: { bytes: rootfs * MIB, inodes, time: 0 },
    logs: { bytes: logs * MIB, inodes: 0 },
  }
  return {
    uid: parsePodUid(uid),
    name: 'web',
    namespace: 'shop',
    createdAt: 0,
    cgroup,
    sandbox: undefined,
    containers: [container],
    interfaces: undefined,
    processes: use.processes,
    ownFiles: { bytes: own * MIB, inodes: 0 },
    volumes: Object.entries(volumes).map(([name, used]) => ({
      ...toFs(0, 0),
      usedBytes: used * MIB,
      inodesUsed: 0,
      name,
      time: 0,
      pvcRef: undefined,
      isLocalEphemeral: true,
    })),
  }
}

function toFs(left: number, inodesFree: number) {
  return {
    capacityBytes: CAPACITY,
    availableBytes: left * MIB,
    usedBytes: CAPACITY - left * MIB,
    inodes: 1000,
    inodesFree,
    inodesUsed: 1000 - inodesFree,
  }
}

function toCgroup(path: string, workingSetBytes: number, limit?: number): CgroupUsage {
  const memory: MemorySample = {
    usageBytes: workingSetBytes,
    workingSetBytes,
    rssBytes: 0,
    cacheBytes: 0,
    mappedBytes: 0,
    activeFileBytes: 0,
    inactiveFileBytes: 0,
    pageFaults: 0,
    majorPageFaults: 0,
    ownPageFaults: 0,
    ownMajorPageFaults: 0,
    limitBytes: limit === undefined ? undefined : limit * MIB,
    pressure: undefined,
  }
  const sample = { cpu: undefined, memory, swap: undefined, io: undefined, details: undefined }
  return { path, time: 0, sample, nanoCores: undefined }
}
