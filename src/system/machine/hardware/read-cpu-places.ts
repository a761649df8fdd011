import { readdirSync } from 'node:fs'
import { readKernelFile } from '../../cgroups/cgroup-reader.ts'
import { hasCode } from '../../files/error-codes.ts'
import { parseCpuSet } from '../../../model/resources/cpu-set.ts'
import type { CpuPlace } from '../../../model/resources/cpu-place.ts'

const LAST_LEVEL = 3

/** All CPUs that are online, in order. What the kernel does not report is as on the simplest machine: one socket, one NUMA node, no threads. */
export function readCpuPlaces(devices = '/sys/devices/system'): readonly CpuPlace[] {
  const online = parseCpuSet((readKernelFile(`${devices}/cpu/online`) ?? '').trim())
  const nodes = listNames(`${devices}/node`).flatMap((name) => {
    const id = /^node(\d+)$/.exec(name)?.[1]
    const cpus = parseCpuSet((readKernelFile(`${devices}/node/${name}/cpulist`) ?? '').trim())
    return id === undefined ? [] : [{ id: Number(id), cpus: new Set(cpus) }]
  })
  const lowestOnline = (text: string | undefined) => {
    const cpus = new Set(parseCpuSet((text ?? '').trim()))
    return online.find((cpu) => cpus.has(cpu))
  }
  const sockets = new Map(online.map((cpu) => [cpu, readSocket(`${devices}/cpu/cpu${cpu}`)]))
  return online.map((cpu) => {
    const folder = `${devices}/cpu/cpu${cpu}`
    const socket = sockets.get(cpu) ?? 0
    const siblings = readKernelFile(`${folder}/topology/core_cpus_list`)
    return {
      cpu,
      core: lowestOnline(siblings ?? readKernelFile(`${folder}/topology/thread_siblings_list`)) ?? cpu,
      uncoreCache:
        lowestOnline(readLastCache(`${folder}/cache`)) ?? online.find((other) => sockets.get(other) === socket) ?? cpu,
      numaNode: nodes.find(({ cpus }) => cpus.has(cpu))?.id ?? 0,
      socket,
    }
  })
}

/** Some virtual machines call their only socket -1. */
function readSocket(folder: string): number {
  return Math.max(0, Number(readKernelFile(`${folder}/topology/physical_package_id`) ?? '0'))
}

/** The CPUs that share the last cache of this one. */
function readLastCache(folder: string): string | undefined {
  const cache = listNames(folder).find((name) => Number(readKernelFile(`${folder}/${name}/level`)) === LAST_LEVEL)
  return cache === undefined ? undefined : readKernelFile(`${folder}/${cache}/shared_cpu_list`)
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
