import { readdirSync } from 'node:fs'
import { readKernelText } from '../read-kernel-text.ts'

/** How many huge pages of a size the kernel has set aside. */
export interface Hugepages {
  readonly sizeBytes: bigint
  readonly count: bigint
}

const FOLDER = '/sys/kernel/mm/hugepages'

/** Reads what the kernel has set aside, by size. Short files of the kernel, read at once. */
export function readHugepages(folder = FOLDER): readonly Hugepages[] {
  return list(folder)
    .flatMap((name) => {
      const [, kilobytes] = /^hugepages-(\d+)kB$/.exec(name) ?? []
      if (kilobytes === undefined) return []
      const count = /^\d+/.exec(readKernelText(`${folder}/${name}/nr_hugepages`))?.[0] ?? '0'
      return [{ sizeBytes: BigInt(kilobytes) * 1024n, count: BigInt(count) }]
    })
    .sort((a, b) => (a.sizeBytes < b.sizeBytes ? -1 : 1))
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
