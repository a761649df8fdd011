import { spawnSync } from 'node:child_process'

/** Removes from a program what only debuggers need. False where there is no binutils; the program then stays as it is. */
export function stripProgram(path: string): boolean {
  return spawnSync('strip', [path]).status === 0
}
