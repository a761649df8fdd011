import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import type { BigIntStats, Stats } from 'node:fs'
import { join } from 'node:path'
import type { PathInside } from '../guarded-files.ts'
import { GuardedError } from './guarded-error.ts'

// Names a file without opening it: no FIFO waits for a writer, no device wakes up. Node does not list it; it is the same on x64 and arm64.
const O_PATH = 0o10000000
const HOLD = O_PATH | constants.O_NOFOLLOW
const SLASH = 0x2f

/**
 * A file or directory by its descriptor: moving, replacing or linking its path changes nothing for us. Names are bytes, since a pod may
 * use any.
 */
export class HeldPath implements Disposable {
  readonly fd: number

  constructor(path: string | Buffer, flags: number) {
    this.fd = openSync(path, flags)
  }

  /** A path that leads to this very file, whatever its kind; a link is not followed but opened as such. */
  get path(): string {
    return `/proc/self/fd/${this.fd}`
  }

  /** Only the last element of such a path can be changed by others. */
  entry(name: Buffer): Buffer {
    return Buffer.concat([Buffer.from(`${this.path}/`), name])
  }

  /** An entry as it is: a link is held itself, not what it points to. */
  hold(name: Buffer): HeldPath {
    return new HeldPath(this.entry(name), HOLD)
  }

  holdDirectory(name: Buffer): HeldPath {
    return new HeldPath(this.entry(name), HOLD | constants.O_DIRECTORY)
  }

  /** Where it is now, as the mount table would say it. */
  realPath(): string {
    return readlinkSync(this.path)
  }

  stat(): Stats {
    return fstatSync(this.fd)
  }

  exactStat(): BigIntStats {
    return fstatSync(this.fd, { bigint: true })
  }

  /** Which mount it is on: two mounts may show the same file system. */
  mountId(): string {
    const [, id] = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${this.fd}`, 'latin1')) ?? []
    if (id === undefined) throw new GuardedError('ENOSYS', 'Cannot distinguish mounts: the kernel shows no mnt_id')
    return id
  }

  [Symbol.dispose](): void {
    closeSync(this.fd)
  }
}

/** A path that only the agent and administrators name; links in it are followed. */
export function holdTrusted(path: string | Buffer): HeldPath {
  return new HeldPath(path, O_PATH)
}

/**
 * What a path inside a volume leads to. Links are resolved first and must stay inside; then every element of the result is opened without
 * following any, so that one which became a link meanwhile is found out.
 */
export function holdInside(inside: PathInside): HeldPath {
  const path = checkRelative(inside.path)
  const root = realpathSync.native(inside.root, 'buffer')
  const full = realpathSync.native(join(inside.root, path), 'buffer')
  return walkDown(root, namesBelow(root, full, inside.path))
}

/** The names that lead from a resolved root to a resolved path in it. */
export function namesBelow(root: Buffer, full: Buffer, shown: string): readonly Buffer[] {
  const names = splitPath(full)
  const above = splitPath(root)
  if (above.every((name, index) => names[index]?.equals(name) === true)) return names.slice(above.length)
  throw new GuardedError('EXDEV', `Cannot use "${shown}": it is not allowed to be outside of its volume`)
}

/** Opens name after name, following nothing. */
export function walkDown(root: Buffer, names: readonly Buffer[]): HeldPath {
  let held = holdTrusted(root)
  try {
    for (const name of names) {
      const next = held.hold(name)
      held[Symbol.dispose]()
      held = next
      if (held.stat().isSymbolicLink())
        throw new GuardedError('ELOOP', `Cannot use "${name.toString()}": unexpected symlink found`)
    }
    return held
  } catch (error) {
    held[Symbol.dispose]()
    throw error
  }
}

export function checkRelative(path: string): string {
  if (!path.startsWith('/') && !path.split('/').includes('..')) return path
  throw new GuardedError('EINVAL', `Cannot use "${path}": expected a relative path without ".."`)
}

export function splitPath(path: Buffer): readonly Buffer[] {
  const names: Buffer[] = []
  let start = 0
  for (let index = 0; index <= path.length; index += 1) {
    if (index < path.length && path[index] !== SLASH) continue
    if (index > start) names.push(path.subarray(start, index))
    start = index + 1
  }
  return names
}
