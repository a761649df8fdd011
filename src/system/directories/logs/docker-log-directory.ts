import { constants } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { hasCode, unlessAbsent } from '../../files/error-codes.ts'
import { watchDirectory } from '../../files/watch-directory.ts'
import type { DirectoryListener } from '../../files/watch-directory.ts'
import { readDockerLink } from './docker-log-link.ts'
import type { LogDirectory } from './log-directory.ts'
import { openLogFile, toIdentity } from './open-log-file.ts'
import type { LogFile } from './open-log-file.ts'

const { O_DIRECTORY, O_RDONLY } = constants
const MOST_TRIES = 3
const DAY_DIGITS = 8
const TIME_DIGITS = 6

interface RotatedFile {
  /** The name that Docker has given it for now. */
  readonly file: string
  /** What stays the same when it gets another name. The birth distinguishes it from an older file whose number it was given. */
  readonly key: string
}

/** The folder in which Docker keeps the log of a container; undefined where no link to it stands, or the folder is gone. */
export async function openDockerLogs(
  directory: string,
  name: string,
  containerId: string,
): Promise<LogDirectory | undefined> {
  const target = await readTarget(`${directory}/${name}`, containerId)
  if (target === undefined) return undefined
  const handle = await unlessAbsent(open(dirname(target), O_RDONLY | O_DIRECTORY), undefined)
  return handle && new DockerLogDirectory(handle, name, basename(target))
}

async function readTarget(link: string, containerId: string): Promise<string | undefined> {
  try {
    return await readDockerLink(link, containerId)
  } catch (error) {
    // A plain file, or nothing at all.
    if (hasCode(error, 'EINVAL') || hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/**
 * The log of a container of Docker and its rotated files, under names as the agent's own rotation gives them. With each rotation Docker gives
 * every file another name (`.1` becomes `.2`); readers need names that stay, so these are counted up here.
 */
class DockerLogDirectory implements LogDirectory {
  readonly #handle: FileHandle
  readonly #name: string
  readonly #file: string
  #rotated: ReadonlyMap<string, RotatedFile> = new Map()
  #given = 0

  constructor(handle: FileHandle, name: string, file: string) {
    this.#handle = handle
    this.#name = name
    this.#file = file
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }

  async names(): Promise<readonly string[]> {
    const known = new Map([...this.#rotated].map(([name, { key }]) => [key, name]))
    const files = await this.#list()
    this.#rotated = new Map(files.map((rotated) => [known.get(rotated.key) ?? this.#nextName(), rotated]))
    const isThere = (await this.identity(this.#name)) !== undefined
    return [...(isThere ? [this.#name] : []), ...this.#rotated.keys()]
  }

  async open(name: string): Promise<LogFile | undefined> {
    if (name === this.#name) return await unlessAbsent(openLogFile(this.#path(this.#file)), undefined)
    const wanted = this.#rotated.get(name)?.key
    if (wanted === undefined) return undefined
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const found = (await this.#list()).find(({ key }) => key === wanted)
      if (found === undefined) return undefined
      const opened = await unlessAbsent(openLogFile(this.#path(found.file)), undefined)
      // Docker may have given the name to another file meanwhile.
      if (opened !== undefined && wanted.startsWith(`${opened.identity} `)) return opened
      await opened?.[Symbol.asyncDispose]()
    }
    return undefined
  }

  async identity(name: string): Promise<string | undefined> {
    if (name !== this.#name) return undefined
    const found = await unlessAbsent(lstat(this.#path(this.#file), { bigint: true }), undefined)
    return found && toIdentity(found)
  }

  watch(onChange: DirectoryListener['onChange']): Disposable {
    // Which file has which name says the next list.
    return watchDirectory(this.#path('.'), {
      onChange: (_, what) => onChange(undefined, what),
      onFailure: () => {},
    })
  }

  /** The rotated files, the oldest first. */
  async #list(): Promise<readonly RotatedFile[]> {
    const prefix = `${this.#file}.`
    const numbers = (await readdir(this.#path('.')))
      .filter((file) => file.startsWith(prefix) && /^\d+$/.test(file.slice(prefix.length)))
      .map((file) => Number(file.slice(prefix.length)))
      .toSorted((a, b) => b - a)
    const files = await Promise.all(
      numbers.map(async (number) => {
        const file = `${prefix}${number}`
        const found = await unlessAbsent(lstat(this.#path(file), { bigint: true }), undefined)
        return found && { file, key: `${toIdentity(found)} ${found.birthtimeNs}` }
      }),
    )
    return files.filter((file) => file !== undefined)
  }

  /** In the form of a time, as rotated logs have it. */
  #nextName(): string {
    this.#given += 1
    const digits = String(this.#given).padStart(DAY_DIGITS + TIME_DIGITS, '0')
    return `${this.#name}.${digits.slice(0, DAY_DIGITS)}-${digits.slice(DAY_DIGITS)}`
  }

  #path(name: string): string {
    return `/proc/self/fd/${this.#handle.fd}/${name}`
  }
}
