import process from 'node:process'

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
  // Node warns that its FFI is experimental, which does not belong in the log of a node.
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
