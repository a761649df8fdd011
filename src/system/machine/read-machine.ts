import { existsSync, readdirSync } from 'node:fs'
import { isUserNamespace } from '../files/is-user-namespace.ts'
import { hasSwapController } from '../cgroups/has-swap-controller.ts'
import { readContainerContext } from './read-container-context.ts'
import { parseCpuSet } from '../../model/resources/cpu-set.ts'
import { readKernelText } from './read-kernel-text.ts'

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
  /** What SELinux has for files of containers; undefined where it is off. */
  readonly selinuxFileContext?: string | undefined
  /** The agent runs in a user namespace, where root may not do all that it may elsewhere. */
  readonly inUserNamespace: boolean
}

const CGROUPS = '/sys/fs/cgroup'
const CPUS = '/sys/devices/system/cpu'

/** Reads it from /proc and /sys. Short files of the kernel, read at once: nothing else runs yet. */
export function readMachine(): MachineInfo {
  const cgroupVersion = existsSync(`${CGROUPS}/cgroup.controllers`) ? 2 : 1
  const memory = readKernelText('/proc/meminfo')
  const selinuxEnabled = existsSync('/sys/fs/selinux/enforce')
  return {
    cgroupVersion,
    onlineCpus: parseCpuSet(readKernelText(`${CPUS}/online`).trim()),
    memoryBytes: kilobytes(memory, 'MemTotal'),
    swapBytes: kilobytes(memory, 'SwapTotal'),
    swapController: hasSwapController(cgroupVersion),
    hugepageSizes: listNames('/sys/kernel/mm/hugepages').flatMap(hugepageName),
    thermalThrottlePaths: listNames(CPUS)
      .map((name) => `${CPUS}/${name}/thermal_throttle`)
      .filter((path) => /\/cpu\d+\//.test(path) && existsSync(path)),
    selinuxEnabled,
    selinuxFileContext: selinuxEnabled ? readContainerContext() : undefined,
    inUserNamespace: isUserNamespace(readKernelText('/proc/self/uid_map')),
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

function listNames(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
