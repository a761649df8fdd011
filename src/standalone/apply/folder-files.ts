import { join } from 'node:path'
import { inspectPath, readBoundedFile } from '../../system/files/read-bounded-file.ts'
import { listFolderTree } from './list-folder-tree.ts'
import type { FolderTree } from './list-folder-tree.ts'
import { parseObjects } from './parse-objects.ts'
import type { LocatedObject } from './parse-objects.ts'
import type { Reporter } from './reporter.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

interface KnownFile {
  readonly stamp: string
  readonly objects: readonly FileObject[]
  /** What it has now cannot be used; the objects are those of its last good version. */
  readonly isBad: boolean
}

/** An object of a file; the lines of a built one are in no file. */
type FileObject = Pick<LocatedObject, 'object'> & Partial<LocatedObject>

/** Builds the kustomization of a folder: YAML of its objects. Fails with what is wrong. */
export type BuildKustomization = (folder: string, signal: AbortSignal) => Promise<string>

const LINK = 'a link to a folder, which is not followed'
const MAX_FILE_BYTES = 10 * 1024 * 1024

/** The objects in the files of a folder and its sub-folders, as the files last said it. */
export class FolderFiles {
  readonly #folder: string
  readonly #reporter: Reporter
  readonly #build: BuildKustomization
  readonly #files = new Map<string, KnownFile>()
  #folders: readonly string[] = []

  constructor(folder: string, reporter: Reporter, build: BuildKustomization) {
    this.#folder = folder
    this.#reporter = reporter
    this.#build = build
  }

  /** In the order of the files' names. */
  objects(): (FileObject & { readonly file: string })[] {
    return [...this.#files.keys()]
      .sort()
      .flatMap((file) => (this.#files.get(file)?.objects ?? []).map((located) => ({ file, ...located })))
  }

  /** There is no file to apply at all, not even one without objects. */
  get isEmpty(): boolean {
    return this.#files.size === 0
  }

  /** The folder and those below it, as they were at the last reading. */
  get folders(): readonly string[] {
    return this.#folders
  }

  /** True for a file that is there and cannot be used: what it should say is unknown. */
  isBad(file: string): boolean {
    return this.#files.get(file)?.isBad === true
  }

  /** Reads what is new. Undefined when the folder cannot be listed, false when a file in it is bad. */
  async read(signal: AbortSignal): Promise<boolean | undefined> {
    let tree: FolderTree
    try {
      tree = await listFolderTree(this.#folder, signal)
      this.#reporter.clear(this.#folder)
    } catch (error) {
      if (signal.aborted) throw error
      const isGone = (await inspectPath(this.#folder)).kind === 'missing'
      const reason = isGone ? 'there is no such folder any more; its objects stay' : errorMessage(error)
      this.#reporter.report(this.#folder, `Cannot apply "${this.#folder}": ${reason}`, { file: this.#folder, reason })
      return undefined
    }
    this.#folders = tree.folders
    const names = new Set([...tree.files, ...tree.kustomizations, ...tree.links])
    for (const known of this.#files.keys()) {
      if (names.has(known)) continue
      this.#files.delete(known)
      this.#reporter.clear(join(this.#folder, known))
    }
    for (const name of tree.files) {
      signal.throwIfAborted()
      await this.#readFile(name)
    }
    for (const name of tree.links) this.#reject(join(this.#folder, name), name, LINK, LINK)
    for (const name of tree.kustomizations) await this.#readKustomization(name, tree.stamp, signal)
    return ![...this.#files.values()].some(({ isBad }) => isBad)
  }

  async #readFile(name: string): Promise<void> {
    const path = join(this.#folder, name)
    const found = await inspectPath(path)
    if (found.kind === 'directory' || found.kind === 'missing') return
    const known = this.#files.get(name)
    if (found.kind !== 'file') return this.#reject(path, name, found.reason, found.kind)
    if (known?.stamp === found.stamp) return
    const content = await readBoundedFile(path, MAX_FILE_BYTES)
    // Without its stamp it is read again the next time.
    if (content.kind === 'failed') return this.#reject(path, name, content.reason, content.kind)
    try {
      if (content.kind === 'unusable') throw new Error(content.reason)
      this.#take(name, found.stamp, await parseObjects(content.bytes))
    } catch (error) {
      this.#reject(path, name, errorMessage(error), found.stamp)
    }
  }

  /** Built again when anything in the tree has changed: it may refer to all of it. */
  async #readKustomization(name: string, stamp: string, signal: AbortSignal): Promise<void> {
    if (this.#files.get(name)?.stamp === stamp) return
    const path = join(this.#folder, name)
    try {
      const objects = await parseObjects(Buffer.from(await this.#build(path, signal)))
      this.#take(
        name,
        stamp,
        objects.map(({ object }) => ({ object })),
      )
    } catch (error) {
      if (signal.aborted) throw error
      this.#reject(path, name, errorMessage(error), stamp)
    }
  }

  #take(name: string, stamp: string, objects: readonly FileObject[]): void {
    this.#files.set(name, { stamp, objects, isBad: false })
    this.#reporter.clear(join(this.#folder, name))
  }

  #reject(path: string, name: string, reason: string, stamp: string): void {
    const objects = this.#files.get(name)?.objects ?? []
    this.#files.set(name, { stamp, objects, isBad: true })
    const hasLastGood = objects.length > 0
    this.#reporter.report(path, `Cannot apply "${path}": ${reason}`, { file: path, reason, hasLastGood })
  }
}
