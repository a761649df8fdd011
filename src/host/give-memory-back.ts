import process from 'node:process'
import { collectGarbage } from './collect-garbage.ts'

let trimMalloc: (() => void) | undefined

/**
 * Gives the kernel what nobody uses: the garbage of JavaScript, and the free pages of malloc. By itself malloc only returns what is free
 * at the end of its heap, so that one small piece there keeps what thousands of connections or a roll-out needed.
 */
export function giveMemoryBack(): void {
  collectGarbage()
  trimMalloc ??= findMallocTrim()
  trimMalloc()
}

function findMallocTrim(): () => void {
  // Node tells whoever is near that its FFI is young; the log of a node is not the place.
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = () => {}
  try {
    const { dlopen } = process.getBuiltinModule('node:ffi')
    const { functions } = dlopen(null, { malloc_trim: { arguments: ['uint64'], return: 'int32' } })
    return () => void functions.malloc_trim(0n)
  } catch {
    // Another C library, or a Node without FFI: that memory stays with the process.
    return () => {}
  } finally {
    process.emitWarning = emitWarning
  }
}
