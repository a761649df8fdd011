import { readdirSync } from 'node:fs'
import type { CpuPlace } from '../../../model/resources/cpu-place.ts'
import { parseCpuSet } from '../../../model/resources/cpu-set.ts'
import { readKernelFile } from '../../cgroups/cgroup-reader.ts'
import { hasCode } from '../../files/error-codes.ts'

/** A cache of a core; of the whole NUMA node when all its CPUs share it. */
export interface CpuCache {
  readonly numaNode: number
  readonly core: number | undefined
  readonly level: number
  /** Data, Instruction or Unified. */
  readonly type: string
  readonly sizeBytes: number
}

/** Those of all cores. Read once: none of it changes while the CPUs stay. */
export function readCpuCaches(places: readonly CpuPlace[], devices = '/sys/devices/system'): readonly CpuCache[] {
  const caches = new Map<string, CpuCache>()
  for (const { cpu, core, numaNode } of places) {
    // The threads of a core have the same caches.
    if (cpu !== core) continue
    const neighbours = places.filter((place) => place.numaNode === numaNode)
    for (const { sharedBy, ...cache } of readCaches(`${devices}/cpu/cpu${cpu}/cache`)) {
      const owner = neighbours.every((place) => sharedBy.has(place.cpu)) && neighbours.length > 1 ? undefined : core
      caches.set(`${numaNode} ${owner} ${cache.level} ${cache.type}`, { numaNode, core: owner, ...cache })
    }
  }
  return [...caches.values()]
}

type OwnCache = Pick<CpuCache, 'level' | 'type' | 'sizeBytes'> & { readonly sharedBy: ReadonlySet<number> }

function readCaches(folder: string): readonly OwnCache[] {
  return listIndexes(folder).flatMap((name) => {
    const read = (file: string) => (readKernelFile(`${folder}/${name}/${file}`) ?? '').trim()
    const [, kibibytes] = /^(\d+)K$/.exec(read('size')) ?? []
    if (kibibytes === undefined) return []
    return [
      {
        level: Number(read('level')),
        type: read('type'),
        sizeBytes: Number(kibibytes) * 1024,
        sharedBy: new Set(parseCpuSet(read('shared_cpu_list'))),
      },
    ]
  })
}

function listIndexes(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^index\d+$/.test(name))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
