import { readFileSync } from 'node:fs'
import { release } from 'node:os'

/** Which machine this is, and what runs on it. */
export interface NodeIdentity {
  readonly machineId: string
  readonly systemUuid: string
  readonly bootId: string
  readonly kernelVersion: string
  readonly osImage: string
}

const SYSTEM_UUID_FILES = [
  '/sys/class/dmi/id/product_uuid',
  '/proc/device-tree/system-id',
  '/proc/device-tree/vm,uuid',
  '/etc/machine-id',
]
const OS_RELEASE_FILES = ['/etc/os-release', '/usr/lib/os-release']

/** Reads the identity once at the start, from short files. The options are lists of files with commas between: the first that exists. */
export function readNodeIdentity(options: {
  readonly machineIdFiles: string
  readonly bootIdFiles: string
}): NodeIdentity {
  const machineId = readFirst(options.machineIdFiles.split(','))
  return {
    machineId,
    systemUuid: readFirst(SYSTEM_UUID_FILES) || machineId,
    bootId: readFirst(options.bootIdFiles.split(',')),
    kernelVersion: release(),
    osImage: parseOsImage(readFirst(OS_RELEASE_FILES)),
  }
}

/** The name of the system for people, from the text of an os-release file. */
export function parseOsImage(osRelease: string): string {
  const [, value = ''] = /^PRETTY_NAME=(.*)$/m.exec(osRelease) ?? []
  const [, , quoted = value] = /^(["'])(.*)\1\s*$/.exec(value) ?? []
  return quoted.trim() || 'Linux'
}

function readFirst(paths: readonly string[]): string {
  for (const path of paths) {
    try {
      // Texts of the device tree end with a zero byte.
      return readFileSync(path.trim(), 'utf8').replaceAll('\0', '').trim()
    } catch {
      // The next one may be there.
    }
  }
  return ''
}
