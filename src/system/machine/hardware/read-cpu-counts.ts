import { readKernelFile } from '../../cgroups/cgroup-reader.ts'

/** How many cores there are in how many sockets; cpus that the kernel counts twice are one core. */
export interface CpuCounts {
  readonly cores: number
  readonly physicalCores: number
  readonly sockets: number
}

/** Read once at the start: none of it changes. */
export function readCpuCounts(): CpuCounts {
  return parseCpuCounts(readKernelFile('/proc/cpuinfo') ?? '')
}

/** Reads /proc/cpuinfo. Where it says nothing of cores and sockets, as on arm64, each cpu is a core of one socket. */
export function parseCpuCounts(text: string): CpuCounts {
  const cpus = text.split('\n\n').filter((part) => /^processor\s*:/m.test(part))
  const field = (part: string, name: string) => new RegExp(`^${name}\\s*:\\s*(\\S+)`, 'm').exec(part)?.[1]
  const sockets = new Set(cpus.map((part) => field(part, 'physical id') ?? '0'))
  const physicalCores = new Set(
    cpus.map((part) => `${field(part, 'physical id') ?? '0'} ${field(part, 'core id') ?? field(part, 'processor')}`),
  )
  return { cores: cpus.length, physicalCores: physicalCores.size, sockets: sockets.size }
}
