import { openCLibrary } from './c-library.ts'

let trim: (() => void) | undefined

/**
 * Gives the kernel the free pages of malloc. By itself malloc only returns what is free at the end of its heap, so that one small piece
 * there keeps what thousands of connections needed. Takes a few milliseconds.
 */
export function trimMalloc(): void {
  trim ??= findTrim()
  trim()
}

function findTrim(): () => void {
  try {
    const { malloc_trim: mallocTrim } = openCLibrary({ malloc_trim: { arguments: ['uint64'], return: 'int32' } })
    return () => void mallocTrim(0n)
  } catch {
    // Another C library, or a Node without FFI: that memory stays with the process.
    return () => {}
  }
}
