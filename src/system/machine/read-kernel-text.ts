import { readFileSync } from 'node:fs'

/** A file of the kernel; empty where there is none. */
export function readKernelText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
