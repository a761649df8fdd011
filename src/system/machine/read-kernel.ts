import { existsSync, readFileSync } from 'node:fs'
import { release } from 'node:os'

/** What pods may be given by the kernel, read once at the start. */
export interface KernelInfo {
  /** As "uname -r" says it. */
  readonly release: string
  /** The kernel confines processes with AppArmor. */
  readonly appArmor: boolean
}

/** Reads it from short files of the kernel, all at once: nothing else runs yet. */
export function readKernel(): KernelInfo {
  return { release: release(), appArmor: hasAppArmor() }
}

function hasAppArmor(): boolean {
  try {
    const isOn = readFileSync('/sys/module/apparmor/parameters/enabled', 'utf8').startsWith('Y')
    return isOn && existsSync('/sys/kernel/security/apparmor')
  } catch {
    return false
  }
}
