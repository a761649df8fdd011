import { opendirSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { hasCode } from '../../files/error-codes.ts'
import type { HeldPath } from './held-path.ts'

/** What is done with the entries of a tree. */
export interface TreeVisitor {
  /** Anything but a directory; it may be gone already. */
  readonly file: (directory: HeldPath, name: Buffer) => void
  /** A directory, the root too, after all that is in it. */
  readonly leave: (directory: HeldPath) => void
  /** After leaving a directory, from the one above it; never for the root. */
  readonly left?: (parent: HeldPath, name: Buffer) => void
}

interface Level {
  readonly name: Buffer
  readonly device: bigint
  readonly inode: bigint
  readonly directories: Buffer[]
}

const ENTRIES_PER_READ = 256
/** What opening an entry says when it is no longer the directory that was listed. */
const CHANGED = ['ENOENT', 'ENOTDIR', 'ELOOP']

/**
 * Walks a tree that others may change meanwhile, children before their parents. One descriptor at a time whatever the depth, on the mount of
 * the root only, no link followed. The root stays open.
 */
export function walkTree(root: HeldPath, visitor: TreeVisitor): void {
  new TreeWalk(root, visitor).run()
}

class TreeWalk {
  readonly #root: HeldPath
  readonly #visitor: TreeVisitor
  readonly #mount: string
  readonly #device: bigint
  readonly #levels: Level[] = []
  #current: HeldPath

  constructor(root: HeldPath, visitor: TreeVisitor) {
    this.#root = root
    this.#visitor = visitor
    this.#mount = root.mountId()
    this.#device = root.exactStat().dev
    this.#current = root
  }

  run(): void {
    try {
      this.#enter(Buffer.alloc(0))
      for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
        const name = level.directories.pop()
        if (name === undefined) this.#leave(level)
        else this.#descend(name)
      }
    } finally {
      this.#moveTo(this.#root)
    }
  }

  #descend(name: Buffer): void {
    const next = this.#hold(this.#current, name)
    if (next === undefined) return
    if (next.mountId() !== this.#mount || next.exactStat().dev !== this.#device) return next[Symbol.dispose]()
    this.#moveTo(next)
    this.#enter(name)
  }

  #enter(name: Buffer): void {
    const { dev, ino } = this.#current.exactStat()
    const directories: Buffer[] = []
    this.#levels.push({ name, device: dev, inode: ino, directories })
    using listing = opendirSync(this.#current.path, {
      encoding: 'buffer' as BufferEncoding,
      bufferSize: ENTRIES_PER_READ,
    })
    for (let entry = readEntry(listing); entry !== null; entry = readEntry(listing)) {
      if (entry.isDirectory()) directories.push(entry.name)
      else this.#visitor.file(this.#current, entry.name)
    }
  }

  #leave(level: Level): void {
    this.#visitor.leave(this.#current)
    this.#levels.pop()
    const depth = this.#levels.length
    if (depth === 0) return
    this.#moveTo(this.#above() ?? this.#retrace())
    if (this.#levels.length === depth) this.#visitor.left?.(this.#current, level.name)
  }

  /** The directory above, if the current one was not moved away. */
  #above(): HeldPath | undefined {
    const parent = this.#levels.at(-1)
    return parent === undefined ? undefined : this.#holdIf(this.#current, Buffer.from('..'), parent)
  }

  /** Down again from the root, as far as the way is still the same; what was moved elsewhere is no longer our concern. */
  #retrace(): HeldPath {
    let held = this.#root
    for (const [index, level] of this.#levels.entries()) {
      if (index === 0) continue
      const next = this.#holdIf(held, level.name, level)
      if (next === undefined) {
        this.#levels.length = index
        break
      }
      if (held !== this.#root) held[Symbol.dispose]()
      held = next
    }
    return held
  }

  #holdIf(directory: HeldPath, name: Buffer, level: Level): HeldPath | undefined {
    const held = this.#hold(directory, name)
    if (held === undefined) return undefined
    const { dev, ino } = held.exactStat()
    if (dev === level.device && ino === level.inode) return held
    held[Symbol.dispose]()
    return undefined
  }

  #hold(directory: HeldPath, name: Buffer): HeldPath | undefined {
    try {
      return directory.holdDirectory(name)
    } catch (error) {
      if (hasCode(error, ...CHANGED)) return undefined
      throw error
    }
  }

  #moveTo(next: HeldPath): void {
    if (this.#current !== this.#root && this.#current !== next) this.#current[Symbol.dispose]()
    this.#current = next
  }
}

/** Names come as bytes, which the types of opendir do not know. */
function readEntry(listing: ReturnType<typeof opendirSync>): (Omit<Dirent, 'name'> & { readonly name: Buffer }) | null {
  return listing.readSync() as unknown as (Omit<Dirent, 'name'> & { readonly name: Buffer }) | null
}
