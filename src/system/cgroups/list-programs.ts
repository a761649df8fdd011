import { readFileSync, readlinkSync } from 'node:fs'
import { hasCode } from '../files/error-codes.ts'

/** The processes directly in a cgroup that are programs: not the kernel's own threads, and not the first process. */
export function listPrograms(procsFile: string, proc = '/proc'): readonly number[] {
  return readFileSync(procsFile, 'utf8')
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 1 && isProgram(`${proc}/${pid}/exe`))
}

/** A thread of the kernel runs no file. One that has just ended does not count either. */
function isProgram(link: string): boolean {
  try {
    readlinkSync(link)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return false
    throw error
  }
}
