import { watch } from 'node:fs'

/** Receives changes in a directory. */
export interface DirectoryListener {
  /** Something happened to this name, or to one that the kernel did not report. */
  readonly onChange: (name: string | undefined) => void
  /** The watch ended by itself. */
  readonly onFailure: (error: Error) => void
}

/** Watches the entries of a directory (not those below) until disposed; throws when the directory cannot be watched. */
export function watchDirectory(path: string, listener: DirectoryListener): Disposable {
  const watcher = watch(path, { recursive: false })
  watcher.on('change', (_, name) => listener.onChange(name === null ? undefined : String(name)))
  watcher.on('error', (error) => listener.onFailure(error))
  return { [Symbol.dispose]: () => watcher.close() }
}
