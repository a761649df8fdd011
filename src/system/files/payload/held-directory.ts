import { constants } from 'node:fs'
import * as nodeFiles from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'

/** The calls that change or read files, to be replaced in tests by some that fail. */
export type FileCalls = Pick<
  typeof nodeFiles,
  'open' | 'mkdir' | 'readdir' | 'readlink' | 'symlink' | 'rename' | 'unlink' | 'rmdir'
>

/** What a file or directory is to be; undefined leaves owner or group as they are. */
export interface Permissions {
  readonly mode: number
  readonly owner: number | undefined
  readonly group: number | undefined
}

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/**
 * A directory that is held open, so that names in it mean the same whatever happens to the path that led here. Names are single ones and no
 * link behind one is ever followed.
 */
export class HeldDirectory implements AsyncDisposable {
  readonly #handle: FileHandle
  readonly #files: FileCalls

  private constructor(handle: FileHandle, files: FileCalls) {
    this.#handle = handle
    this.#files = files
  }

  static async open(path: string, files: FileCalls = nodeFiles): Promise<HeldDirectory> {
    return new HeldDirectory(await files.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), files)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }

  async names(): Promise<readonly string[]> {
    return await this.#files.readdir(`/proc/self/fd/${this.#handle.fd}`)
  }

  async directory(name: string): Promise<HeldDirectory> {
    return await HeldDirectory.open(this.#path(name), this.#files)
  }

  async makeDirectory(name: string): Promise<void> {
    await this.#files.mkdir(this.#path(name), { mode: 0o700 })
  }

  async setPermissions(permissions: Permissions): Promise<void> {
    await applyPermissions(this.#handle, permissions)
  }

  /** A new file: what is there already, or a link, is a failure. */
  async writeFile(name: string, content: Uint8Array, permissions: Permissions): Promise<void> {
    await using file = await this.#files.open(this.#path(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    await file.writeFile(content)
    await applyPermissions(file, permissions)
  }

  /** True for a regular file with exactly this content. */
  async holdsFile(name: string, content: Uint8Array): Promise<boolean> {
    const file = await unless(this.#files.open(this.#path(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK), 'ENOENT', 'ELOOP')
    if (file === undefined) return false
    await using _ = file
    const stat = await file.stat()
    if (!stat.isFile() || stat.size !== content.length) return false
    return content.length === 0 || Buffer.compare(await file.readFile(), content) === 0
  }

  /** Where a link leads; undefined when there is none of this name. */
  async link(name: string): Promise<string | undefined> {
    return await unless(this.#files.readlink(this.#path(name)), 'ENOENT', 'EINVAL')
  }

  async makeLink(name: string, target: string): Promise<void> {
    await this.#files.symlink(target, this.#path(name))
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#files.rename(this.#path(from), this.#path(to))
  }

  async unlink(name: string): Promise<void> {
    await this.#files.unlink(this.#path(name))
  }

  /** Removes a file, a link, or a directory with all that is in it; never from another file system, which something mounted would be. */
  async remove(name: string): Promise<void> {
    const unlinked = await unless(
      this.unlink(name).then(() => true),
      'EISDIR',
      'EPERM',
    )
    if (unlinked === true) return
    await this.#empty(name)
    await this.#files.rmdir(this.#path(name))
  }

  async #empty(name: string): Promise<void> {
    await using directory = await this.directory(name)
    if ((await directory.#handle.stat()).dev !== (await this.#handle.stat()).dev)
      throw new Error(`Cannot remove "${name}": another file system is mounted there`)
    for (const inner of await directory.names()) await directory.remove(inner)
  }

  #path(name: string): string {
    return `/proc/self/fd/${this.#handle.fd}/${name}`
  }
}

/** Exactly these, whatever the umask. */
async function applyPermissions(handle: FileHandle, { mode, owner, group }: Permissions): Promise<void> {
  if (owner !== undefined || group !== undefined) await handle.chown(owner ?? -1, group ?? -1)
  // After the owner: a change of it may take bits away.
  await handle.chmod(mode)
}

async function unless<T>(result: Promise<T>, ...codes: readonly string[]): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (Error.isError(error) && 'code' in error && codes.some((code) => code === error.code)) return undefined
    throw error
  }
}
