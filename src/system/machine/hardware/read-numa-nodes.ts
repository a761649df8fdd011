import { readdirSync } from 'node:fs'
import { readKernelFile } from '../../cgroups/cgroup-reader.ts'
import { hasCode } from '../../files/error-codes.ts'
import { readHugepages } from './read-hugepages.ts'
import type { Hugepages } from './read-hugepages.ts'

/** Memory that is as near to some CPUs as to each other; some have no CPUs at all. */
export interface NumaNode {
  readonly id: number
  readonly memoryBytes: bigint
  readonly hugepages: readonly Hugepages[]
  /** How far the memory of each node is, as the firmware reports it; empty where it does not. */
  readonly distances: ReadonlyMap<number, number>
}

/** All NUMA nodes, in order. A kernel without them has one, with all its memory. */
export function readNumaNodes(
  machine: { readonly memoryBytes: bigint },
  folder = '/sys/devices/system/node',
): readonly NumaNode[] {
  const ids = listIds(folder)
  if (ids.length === 0)
    return [{ id: 0, memoryBytes: machine.memoryBytes, hugepages: readHugepages(), distances: new Map() }]
  return ids.map((id) => {
    const kilobytes = /MemTotal:\s*(\d+) kB/.exec(readKernelFile(`${folder}/node${id}/meminfo`) ?? '')?.[1] ?? '0'
    const distances = (readKernelFile(`${folder}/node${id}/distance`) ?? '').split(/\s+/).filter(Boolean).map(Number)
    return {
      id,
      memoryBytes: BigInt(kilobytes) * 1024n,
      hugepages: readHugepages(`${folder}/node${id}/hugepages`),
      // The kernel lists them without the numbers of nodes that are not there.
      distances: new Map(ids.flatMap((other, index) => toEntry(other, distances[index]))),
    }
  })
}

function toEntry(id: number, distance: number | undefined): readonly (readonly [number, number])[] {
  return distance === undefined ? [] : [[id, distance]]
}

function listIds(folder: string): readonly number[] {
  try {
    return readdirSync(folder)
      .flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
