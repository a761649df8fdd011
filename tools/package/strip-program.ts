import { spawnSync } from 'node:child_process'

/** Removes from a program what only debuggers need. False where there is no binutils for it; the program then stays as it is. */
export function stripProgram(path: string, strip = 'strip'): boolean {
  return spawnSync(strip, [path]).status === 0
}
