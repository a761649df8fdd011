import { readdirSync } from 'node:fs'
import { readKernelFile } from '../../cgroups/cgroup-reader.ts'
import { hasCode } from '../../files/error-codes.ts'

/** The memory modules (DIMMs) of one type. */
export interface MemoryModules {
  /** As the kernel names it: Unbuffered-DDR4. */
  readonly type: string
  readonly count: number
  readonly capacityBytes: number
}

const MEBIBYTE = 1024 * 1024

/** By type, as memory controllers list them; none where the kernel knows of no controller. */
export function readMemoryModules(folder = '/sys/devices/system/edac/mc'): readonly MemoryModules[] {
  const modules = new Map<string, MemoryModules>()
  for (const controller of list(folder, /^mc\d+$/)) {
    for (const slot of list(`${folder}/${controller}`, /^dimm\d+$/)) {
      const read = (file: string) => (readKernelFile(`${folder}/${controller}/${slot}/${file}`) ?? '').trim()
      const type = read('dimm_mem_type')
      const before = modules.get(type) ?? { type, count: 0, capacityBytes: 0 }
      const capacityBytes = before.capacityBytes + Number(read('size')) * MEBIBYTE
      modules.set(type, { type, count: before.count + 1, capacityBytes })
    }
  }
  return [...modules.values()]
}

function list(folder: string, name: RegExp): readonly string[] {
  try {
    return readdirSync(folder).filter((entry) => name.test(entry))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
