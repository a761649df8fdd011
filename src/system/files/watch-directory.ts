import { watch } from 'node:fs'

/** Receives changes in a directory. */
export interface DirectoryListener {
  /**
   * Something happened to this name, or to one that the kernel did not report. rename: it appeared, went, or was given to another file, each of
   * which is one report; change: only what the name stands for did.
   */
  readonly onChange: (name: string | undefined, what: 'rename' | 'change') => void
  /** The watch ended by itself. */
  readonly onFailure: (error: Error) => void
}

/** Watches the entries of a directory (not those below) until disposed; throws when the directory cannot be watched. */
export function watchDirectory(path: string, listener: DirectoryListener): Disposable {
  const watcher = watch(path, { recursive: false })
  watcher.on('change', (what, name) =>
    listener.onChange(name === null ? undefined : String(name), what === 'rename' ? what : 'change'),
  )
  watcher.on('error', (error) => listener.onFailure(error))
  return { [Symbol.dispose]: () => watcher.close() }
}
