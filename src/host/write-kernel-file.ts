import { writeFileSync } from 'node:fs'

/** Writes a value for the kernel, which takes or refuses it at once. Never makes a file. */
export function writeKernelFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'r+' })
  } catch (cause) {
    const why = Error.isError(cause) && 'code' in cause ? String(cause.code) : 'unknown'
    throw new Error(`Cannot write "${text}" to "${path}": ${why}`, { cause })
  }
}
