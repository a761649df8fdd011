import { join } from 'node:path'
import { inspectPath, listNames, readManifestFile } from '../../system/files/read-manifest-file.ts'
import type { AppliedObject } from './applied-object.ts'
import { parseObjects } from './parse-objects.ts'
import type { Reporter } from './reporter.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

interface KnownFile {
  readonly stamp: string
  readonly objects: readonly AppliedObject[]
  /** What it has now cannot be used; the objects are those of its last good version. */
  readonly isBad: boolean
}

const MAX_FILE_BYTES = 10 * 1024 * 1024
const FILES = /\.(?:ya?ml|json)$/

/** The objects in the files of a folder, as the files last said it. */
export class FolderFiles {
  readonly #folder: string
  readonly #reporter: Reporter
  readonly #files = new Map<string, KnownFile>()

  constructor(folder: string, reporter: Reporter) {
    this.#folder = folder
    this.#reporter = reporter
  }

  /** In the order of the files' names. */
  objects(): { readonly file: string; readonly object: AppliedObject }[] {
    return [...this.#files.keys()]
      .sort()
      .flatMap((file) => (this.#files.get(file)?.objects ?? []).map((object) => ({ file, object })))
  }

  /** True for a file that is there and cannot be used: what it should say is unknown. */
  isBad(file: string): boolean {
    return this.#files.get(file)?.isBad === true
  }

  /** Reads what is new. Undefined when the folder cannot be listed, false when a file in it is bad. */
  async read(signal: AbortSignal): Promise<boolean | undefined> {
    let names: readonly string[]
    try {
      names = (await listNames(this.#folder)).filter((name) => FILES.test(name) && !name.startsWith('.'))
      this.#reporter.report(this.#folder, '')
    } catch (error) {
      this.#reporter.report(this.#folder, `Cannot apply "${this.#folder}": ${errorMessage(error)}`)
      return undefined
    }
    for (const known of this.#files.keys()) if (!names.includes(known)) this.#files.delete(known)
    for (const name of names) {
      signal.throwIfAborted()
      await this.#readFile(name)
    }
    return ![...this.#files.values()].some(({ isBad }) => isBad)
  }

  async #readFile(name: string): Promise<void> {
    const path = join(this.#folder, name)
    const found = await inspectPath(path)
    if (found.kind === 'directory' || found.kind === 'missing') return
    const known = this.#files.get(name)
    if (found.kind !== 'file') return this.#reject(path, name, found.reason, found.kind)
    if (known?.stamp === found.stamp) return
    const content = await readManifestFile(path, MAX_FILE_BYTES)
    // Without its stamp it is read again the next time.
    if (content.kind === 'failed') return this.#reject(path, name, content.reason, content.kind)
    try {
      if (content.kind === 'unusable') throw new Error(content.reason)
      this.#files.set(name, { stamp: found.stamp, objects: parseObjects(content.bytes), isBad: false })
      this.#reporter.report(path, '')
    } catch (error) {
      this.#reject(path, name, errorMessage(error), found.stamp)
    }
  }

  #reject(path: string, name: string, why: string, stamp: string): void {
    this.#files.set(name, { stamp, objects: this.#files.get(name)?.objects ?? [], isBad: true })
    this.#reporter.report(path, `Cannot apply "${path}": ${why}`)
  }
}
