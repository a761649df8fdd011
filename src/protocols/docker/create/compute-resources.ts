import type { LinuxContainerResources } from '../../cri/generated/runtime-v1.ts'
import { UnsupportedError } from './unsupported-error.ts'

/** Limits under Docker's names. */
export interface DockerResources {
  CpuShares?: number
  CpuQuota?: number
  CpuPeriod?: number
  CpusetCpus?: string
  CpusetMems?: string
  Memory?: number
  MemorySwap?: number
}

/** What is 0 or empty stays as it is. */
export function computeResources(linux: LinuxContainerResources | undefined): DockerResources {
  if (linux === undefined) return {}
  const memory = Number(linux.memoryLimitInBytes)
  const swap = Number(linux.memorySwapLimitInBytes)
  return {
    ...(linux.cpuShares === 0n ? {} : { CpuShares: Number(linux.cpuShares) }),
    ...(linux.cpuQuota === 0n ? {} : { CpuQuota: Number(linux.cpuQuota) }),
    ...(linux.cpuPeriod === 0n ? {} : { CpuPeriod: Number(linux.cpuPeriod) }),
    ...(linux.cpusetCpus === '' ? {} : { CpusetCpus: linux.cpusetCpus }),
    ...(linux.cpusetMems === '' ? {} : { CpusetMems: linux.cpusetMems }),
    // Without a limit of its own, Docker would give as much swap again as memory.
    ...(memory === 0 ? {} : { Memory: memory, MemorySwap: swap === 0 ? memory : swap }),
  }
}

/** The cgroup above a container: its path, or with systemd the name of the slice. */
export function computeCgroupParent(path: string, driver: string): string {
  if (path === '' || driver !== 'systemd') return path
  const slice = path.slice(path.lastIndexOf('/') + 1)
  if (!slice.endsWith('.slice'))
    throw new UnsupportedError(`Cannot use "${path}" as the cgroup of a pod: Docker uses systemd, expected a slice`)
  return slice
}
