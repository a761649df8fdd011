import { readFileSync, writeFileSync } from 'node:fs'
import { errorMessage } from '../../base/telemetry/error-text.ts'

/** The settings of the kernel that a node needs, under their sysctl names. */
const WANTED: Readonly<Record<string, number>> = {
  // Pods may ask for more memory than they use.
  'vm.overcommit_memory': 1,
  // The node goes on when a pod runs out of memory.
  'vm.panic_on_oom': 0,
  // A kernel with a fault is not to be trusted, and the machine comes back by itself.
  'kernel.panic': 10,
  'kernel.panic_on_oops': 1,
  // The runtime makes a keyring for each container.
  'kernel.keys.root_maxkeys': 1_000_000,
  'kernel.keys.root_maxbytes': 25_000_000,
}

/** A setting that is not as it should be. */
export interface KernelDifference {
  readonly name: string
  readonly wanted: number
  /** Undefined: it cannot be read. */
  readonly found: number | undefined
}

/** The settings that are not as a node needs them. */
export function findKernelDifferences(root = '/proc/sys'): readonly KernelDifference[] {
  return Object.entries(WANTED).flatMap(([name, wanted]) => {
    const found = read(toPath(root, name))
    return found === wanted ? [] : [{ name, wanted, found }]
  })
}

/** A setting of the kernel, whichever; undefined when it has none of that name. */
export function readKernelSetting(name: string, root = '/proc/sys'): number | undefined {
  return read(toPath(root, name))
}

/** Sets one of them; returns what went wrong, if anything. */
export function writeKernelSetting({ name, wanted }: KernelDifference, root = '/proc/sys'): string | undefined {
  try {
    writeFileSync(toPath(root, name), String(wanted), { flag: 'r+' })
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}

function toPath(root: string, name: string): string {
  return `${root}/${name.replaceAll('.', '/')}`
}

function read(path: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10)
  } catch {
    return undefined
  }
}
