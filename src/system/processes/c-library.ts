import process from 'node:process'
import type { FunctionDefinitions, WrappedFunctionsFromDefinitions } from 'node:ffi'

/** Functions of the C library that Node runs on; throws where it has none of that name, or where Node has no FFI. */
export function openCLibrary<const T extends FunctionDefinitions>(definitions: T): WrappedFunctionsFromDefinitions<T> {
  // Node warns that its FFI is experimental, which does not belong in the log of a node.
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = () => {}
  try {
    const { dlopen } = process.getBuiltinModule('node:ffi')
    return dlopen(null, definitions).functions
  } finally {
    process.emitWarning = emitWarning
  }
}
