import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Clock } from '../../base/async/clock.ts'
import { networkInterfaces } from 'node:os'
import { hasSwapController } from '../cgroups/has-swap-controller.ts'

/** What the machine is, read once at the start. */
export interface MachineInfo {
  readonly cgroupVersion: 1 | 2
  readonly onlineCpus: readonly number[]
  readonly memoryBytes: bigint
  readonly swapBytes: bigint
  /** The kernel can limit swap by cgroup. */
  readonly swapController: boolean
  /** As cgroup files spell them: "2MB", "1GB". */
  readonly hugepageSizes: readonly string[]
  readonly thermalThrottlePaths: readonly string[]
  readonly selinuxEnabled: boolean
}

const CGROUPS = '/sys/fs/cgroup'
const CPUS = '/sys/devices/system/cpu'

/** Reads the facts from /proc and /sys. Short files of the kernel, read at once: nothing else runs yet. */
export function readMachine(): MachineInfo {
  const cgroupVersion = existsSync(`${CGROUPS}/cgroup.controllers`) ? 2 : 1
  const memory = readText('/proc/meminfo')
  return {
    cgroupVersion,
    onlineCpus: parseCpuList(readText(`${CPUS}/online`)),
    memoryBytes: kilobytes(memory, 'MemTotal'),
    swapBytes: kilobytes(memory, 'SwapTotal'),
    swapController: hasSwapController(cgroupVersion),
    hugepageSizes: listNames('/sys/kernel/mm/hugepages').flatMap(hugepageName),
    thermalThrottlePaths: listNames(CPUS)
      .map((name) => `${CPUS}/${name}/thermal_throttle`)
      .filter((path) => /\/cpu\d+\//.test(path) && existsSync(path)),
    selinuxEnabled: existsSync('/sys/fs/selinux/enforce'),
  }
}

/** "0-3,8" as the kernel writes it. */
export function parseCpuList(text: string): number[] {
  return text
    .trim()
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = Number.NaN, last = first] = part.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
}

/** The addresses by which this node is reached: those given, else the first global one of each family. */
export function findNodeIps(given: readonly string[]): readonly string[] {
  const fixed = given.filter((ip) => ip !== '0.0.0.0' && ip !== '::')
  if (fixed.length > 0) return fixed
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const families = given[0] === '::' ? (['IPv6', 'IPv4'] as const) : (['IPv4', 'IPv6'] as const)
  return families.flatMap((family) => {
    const found = all.find((entry) => entry.family === family && !entry.internal && !entry.address.startsWith('fe80:'))
    return found === undefined ? [] : [found.address]
  })
}

// Asking costs little, but not nothing on a node with a network device for each pod.
const NODE_IPS_KEPT_MS = 10_000

/** The addresses of the node as they are now, give or take a few seconds; while there are none it is asked each time. */
export function createNodeIps(clock: Clock, given: readonly string[], find = findNodeIps): () => readonly string[] {
  let known: readonly string[] = []
  let askedAt = -Infinity
  return () => {
    if (known.length > 0 && clock.monotonic() - askedAt < NODE_IPS_KEPT_MS) return known
    known = find(given)
    askedAt = clock.monotonic()
    return known
  }
}

function kilobytes(meminfo: string, name: string): bigint {
  const [, value = '0'] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(meminfo) ?? []
  return BigInt(value) * 1024n
}

/** The kernel's directory is called hugepages-2048kB. */
function hugepageName(directory: string): string[] {
  const kilo = Number(/^hugepages-(\d+)kB$/.exec(directory)?.[1])
  if (Number.isNaN(kilo)) return []
  if (kilo >= 2 ** 20) return [`${kilo / 2 ** 20}GB`]
  return [kilo >= 1024 ? `${kilo / 1024}MB` : `${kilo}KB`]
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function listNames(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
