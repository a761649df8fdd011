import { writeFileSync } from 'node:fs'

/** Writes a value for the kernel, which accepts or rejects it at once. Never makes a file. */
export function writeKernelFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'r+' })
  } catch (cause) {
    throw toWriteError(path, text, cause)
  }
}

/** The kernel says why in one word; the words around it say what was to be done. */
export function toWriteError(path: string, text: string, cause: unknown): Error {
  const why = Error.isError(cause) && 'code' in cause ? String(cause.code) : String(cause)
  return new Error(`Cannot write "${text}" to "${path}": ${why}`, { cause })
}
