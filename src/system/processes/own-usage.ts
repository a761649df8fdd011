import { readdirSync, readFileSync } from 'node:fs'

/** What the kernel knows of this process. */
export function readOwnUsage(): {
  readonly virtualBytes: number
  readonly openFiles: number
  readonly maxFiles: number
} {
  const limits = readFileSync('/proc/self/limits', 'latin1')
  const [, softLimit = '0'] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  const [, kilobytes = '0'] = /^VmSize:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? []
  return {
    virtualBytes: Number(kilobytes) * 1024,
    // One of them is the directory that is being read.
    openFiles: readdirSync('/proc/self/fd').length - 1,
    maxFiles: Number(softLimit),
  }
}
