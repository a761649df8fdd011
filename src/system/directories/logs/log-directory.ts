import { constants } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, relative } from 'node:path'
import { hasCode, unlessAbsent } from '../../files/error-codes.ts'
import { watchDirectory } from '../../files/watch-directory.ts'
import type { DirectoryListener } from '../../files/watch-directory.ts'
import { openDockerLogs } from './docker-log-directory.ts'
import { readDockerLink } from './docker-log-link.ts'
import { LogPlaceError, openLogFile, toIdentity } from './open-log-file.ts'
import type { LogFile } from './open-log-file.ts'

/** The directory of a log that is held open, with the log's rotated files. No link in it is followed, but for that of Docker. */
export interface LogDirectory extends AsyncDisposable {
  names(): Promise<readonly string[]>
  /** Undefined when there is no such file. */
  open(name: string): Promise<LogFile | undefined>
  /** The identity of what has this name now. */
  identity(name: string): Promise<string | undefined>
  /** Yields names whose files changed, and those that came, went or stand for another file; undefined for one that is not known. */
  watch(onChange: DirectoryListener['onChange']): Disposable
}

/** Where a log is. */
export interface LogPlace {
  /** Up to here paths are trusted: below it a pod with a volume of the node's logs could have put links. */
  readonly root: string
  readonly path: string
  readonly containerId: string
}

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants

/** Opens the directory of a log. */
export async function openLogDirectory({ root, path, containerId }: LogPlace): Promise<LogDirectory> {
  const directory = dirname(path)
  const below = relative(root, directory)
  const inside = !below.startsWith('..') && !below.startsWith('/')
  let handle = await open(inside ? root : directory, O_RDONLY | O_DIRECTORY)
  for (const name of inside && below !== '' ? below.split('/') : []) {
    await using parent = handle
    handle = await open(`/proc/self/fd/${parent.fd}/${name}`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  }
  const docker = await openDockerLogs(`/proc/self/fd/${handle.fd}`, basename(path), containerId)
  if (docker === undefined) return new HeldLogDirectory(handle, containerId)
  await handle.close()
  return docker
}

class HeldLogDirectory implements LogDirectory {
  readonly #handle: FileHandle
  readonly #containerId: string

  constructor(handle: FileHandle, containerId: string) {
    this.#handle = handle
    this.#containerId = containerId
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }

  async names(): Promise<readonly string[]> {
    return await readdir(this.#path('.'))
  }

  async open(name: string): Promise<LogFile | undefined> {
    try {
      return await openLogFile(this.#path(name))
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      if (hasCode(error, 'ELOOP')) return await this.#openLinked(name)
      throw error
    }
  }

  async identity(name: string): Promise<string | undefined> {
    const found = await unlessAbsent(stat(this.#path(name), { bigint: true }), undefined)
    return found && toIdentity(found)
  }

  watch(onChange: DirectoryListener['onChange']): Disposable {
    return watchDirectory(this.#path('.'), { onChange, onFailure: () => {} })
  }

  /** Docker's logs are where Docker wants them, and what we asked for is a link there. */
  async #openLinked(name: string): Promise<LogFile | undefined> {
    const target = await readDockerLink(this.#path(name), this.#containerId)
    if (target === undefined)
      throw new LogPlaceError(`Cannot read "${name}" as a log: it is a link, expected a regular file`)
    return await unlessAbsent(openLogFile(target), undefined)
  }

  #path(name: string): string {
    return `/proc/self/fd/${this.#handle.fd}/${name}`
  }
}
