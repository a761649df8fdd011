import { watchDirectory } from '../../system/files/watch-directory.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

interface Watch extends Disposable {
  readonly identity: string
}

/** Watches a set of directories that changes. */
export class DirectoryWatches implements Disposable {
  readonly #deps: { readonly onChange: () => void; readonly log: Logger }
  readonly #watches = new Map<string, Watch>()

  constructor(deps: { readonly onChange: () => void; readonly log: Logger }) {
    this.#deps = deps
  }

  /** Watches these from now on, and no others; true when one of them was not watched before. */
  follow(directories: ReadonlyMap<string, string>): boolean {
    for (const [path, { identity }] of this.#watches) if (directories.get(path) !== identity) this.#end(path)
    const added = [...directories].filter(([path]) => !this.#watches.has(path))
    for (const [path, identity] of added) this.#begin(path, identity)
    return added.some(([path]) => this.#watches.has(path))
  }

  [Symbol.dispose](): void {
    for (const path of this.#watches.keys()) this.#end(path)
  }

  #begin(path: string, identity: string): void {
    const { onChange, log } = this.#deps
    try {
      const watcher = watchDirectory(path, {
        onChange,
        onFailure: (error) => {
          log.warn('cannot watch a directory any more, will try again', { path, error })
          this.#end(path)
        },
      })
      this.#watches.set(path, { identity, [Symbol.dispose]: () => watcher[Symbol.dispose]() })
    } catch (error) {
      log.warn('cannot watch a directory, reading it from time to time', { path, error })
    }
  }

  #end(path: string): void {
    this.#watches.get(path)?.[Symbol.dispose]()
    this.#watches.delete(path)
  }
}
