import { readFileSync } from 'node:fs'
import { mountPointsBelow, parseMountTable } from '../../mounts/mount-table.ts'

/** Mount points at or below a folder, in the order in which they can be unmounted. Asking the kernel's table never blocks. */
export function readMountPoints(folder: string): readonly string[] {
  return mountPointsBelow(parseMountTable(readFileSync('/proc/self/mountinfo', 'utf8')), folder)
}
