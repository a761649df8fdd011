import type { Host } from '../../agent/edges.ts'
import { computeParallelStarts } from '../../pods/sync/start/compute-parallel-starts.ts'
import { parseQuantity, quantityValue } from '../../model/resources/quantity.ts'
import type { GuardedFiles } from '../../system/guarded/guarded-files.ts'
import type { Mounter } from '../../system/mounts/mounter.ts'
import type { FileSystemUsage } from '../../system/files/file-usage.ts'
import { createCsiFiles } from '../../system/directories/csi-files.ts'
import type { StatsFiles } from '../../system/directories/stats-files.ts'
import type { RuntimeUsage } from '../runtime/runtime-handlers.ts'
import type { SimulatedContainer, SimulatedRuntime } from '../runtime/simulated-runtime.ts'
import { InMemoryPodCgroups } from './in-memory-pod-cgroups.ts'
import { InMemoryPodFiles } from './in-memory-pod-files.ts'
import { createInMemoryManifests, createInMemoryRecords, createInMemoryStateFile } from './in-memory-state.ts'
import { createSimulatedCgroups } from './simulated-cgroups.ts'
import { createSimulatedNetwork } from './simulated-network.ts'
import type { IsAnswering } from './simulated-network.ts'
import { createSimulatedVolumes } from './simulated-volumes.ts'

export interface SimulatedHostDeps {
  readonly name: string
  readonly address: string
  readonly storage: string
  readonly cpus: number
  readonly bootedAt: number
  readonly runtime: SimulatedRuntime
  readonly usageOf: (container: SimulatedContainer) => RuntimeUsage
  readonly isAnswering: IsAnswering
}

const ROOT = '/simulated'
const INODES = 10_000_000
const NOTHING = { bytes: 0, inodes: 0 }

/** A machine in memory: it has no files, no kernel and no processes, and nothing of the real one is read. */
export function createSimulatedHost(deps: SimulatedHostDeps): Host {
  const { name, address, runtime, usageOf } = deps
  const files = new InMemoryPodFiles(ROOT).calls
  const cgroups = new InMemoryPodCgroups()
  const capacityBytes = Number(quantityValue(parseQuantity(deps.storage)))
  const texts = new Map<string, string>()
  return {
    bootedAt: deps.bootedAt,
    // Nothing of this machine is worth learning: all nodes share it.
    parallelStarts: { places: computeParallelStarts(deps.cpus).places },
    podNetwork: createSimulatedNetwork(deps.isAnswering),
    statsFiles: createStatsFiles(toFileSystem(capacityBytes)),
    kernel: () => ({ release: 'simulated', appArmor: false }),
    identity: () => ({
      machineId: name,
      systemUuid: name,
      bootId: `${name} ${deps.bootedAt}`,
      kernelVersion: 'simulated',
      osImage: 'simulated',
    }),
    hugepages: () => [],
    numaNodes: () => [],
    cpuPlaces: () => [],
    cgroupReader: () => createSimulatedCgroups({ runtime, usageOf }),
    openKernelLog: () => ({ next: () => undefined, [Symbol.dispose]() {} }),
    readAddress: async () => ({ fault: undefined, found: address }),
    readSpace: async () => ({
      capacityBytes,
      availableBytes: capacityBytes,
      totalInodes: INODES,
      freeInodes: INODES,
    }),
    readSubordinateIds: async () => undefined,
    prepareRoot: async () => ROOT,
    checkWritable: async () => {},
    makeShared: async () => {},
    openGuardedFiles: () => noGuardedFiles,
    openMounter: () => noMounter,
    openLogind: async () => noLogind,
    readIfPresent: async () => undefined,
    findSandboxProfile: async () => undefined,
    stateFile: createInMemoryStateFile,
    recordFolder: createInMemoryRecords,
    lastGoodManifests: createInMemoryManifests,
    podFiles: () => files,
    csiFiles: (rootDirectory) => createCsiFiles({ rootDirectory }),
    userNamespaceRecords: () => ({
      readAll: async () => [...texts].map(([uid, text]) => ({ uid, text })),
      write: async (uid, text) => void texts.set(uid, text),
      setAside: async (uid) => void texts.delete(uid),
      remove: async (uid) => void texts.delete(uid),
    }),
    findShims: async () => [],
    killProcess: async () => false,
    openCgroups: async () => ({ pods: cgroups.calls, moves: noMoves, wake: () => {}, run: async () => {} }),
    openVolumes: createSimulatedVolumes,
  }
}

/** Only volumes with files of pods would use them, and there are no such volumes here. */
const noGuardedFiles = failAll({ [Symbol.dispose]() {} } as GuardedFiles & Disposable)
const noMounter = failAll({ table: async () => [] } as Partial<Mounter> as Mounter)
const noMoves = { keepQuick: <T>(work: () => Promise<T>) => work() }
const noLogind: Awaited<ReturnType<Host['openLogind']>> = {
  connect: () => failHere('watch logind'),
  lock: () => failHere('delay shutdowns'),
  writeDelayFile: () => failHere('delay shutdowns'),
}

async function failHere(what: string): Promise<never> {
  throw new Error(`Cannot ${what} on a simulated machine: it has none`)
}

function failAll<T extends object>(calls: T): T {
  return new Proxy(calls, {
    get: (target, name) =>
      Reflect.get(target, name) ??
      (async () => {
        throw new Error(`Cannot do "${String(name)}" on a simulated machine: it has no files`)
      }),
  })
}

function toFileSystem(capacityBytes: number): FileSystemUsage {
  return {
    capacityBytes,
    availableBytes: capacityBytes,
    usedBytes: 0,
    inodes: INODES,
    inodesFree: INODES,
    inodesUsed: 0,
  }
}

function createStatsFiles(space: FileSystemUsage): StatsFiles {
  return {
    fileSystem: async () => ({ ...space, device: '0:1' }),
    folder: async () => undefined,
    logFolder: async () => undefined,
    file: async () => NOTHING,
    cutFolder: async () => undefined,
    kernelFile: () => undefined,
    openFiles: async () => undefined,
  }
}
