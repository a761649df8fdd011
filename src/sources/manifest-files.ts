import { join } from 'node:path'
import { inspectPath, readManifestFile } from '../host/read-manifest-file.ts'
import { podFullName } from '../model/pod.ts'
import type { Pod } from '../model/pod.ts'
import { ManifestError, formatProblem } from '../schema/manifest-error.ts'
import type { ManifestProblem } from '../schema/manifest-error.ts'
import type { DecodedManifest } from '../schema/decode-pods.ts'
import { MAX_MANIFEST_BYTES } from '../schema/parse-manifest.ts'
import type { Logger } from '../telemetry/logger.ts'

/** Content of a manifest at a path → its pods; throws ManifestError. */
export type DecodeManifest = (bytes: Uint8Array, path: string) => DecodedManifest

interface Entry {
  /** Tells whether the file has changed, or why it is not read. */
  readonly stamp: string
  /** Of the last good version: a manifest edited into something invalid does not end its workload. */
  readonly pods: readonly Pod[]
}

// Of a manifest that is wrong all over the first few places are enough to go on.
const MAX_LOGGED_PROBLEMS = 10

/** The manifests of one directory as last read. A file is decoded, and complained about, once per change. */
export class ManifestFiles {
  readonly #directory: string
  readonly #decode: DecodeManifest
  readonly #logger: Logger
  readonly #entries = new Map<string, Entry>()
  readonly #loggedDoubles = new Set<string>()

  constructor(directory: string, decode: DecodeManifest, logger: Logger) {
    this.#directory = directory
    this.#decode = decode
    this.#logger = logger
  }

  /** Every pod, in the order of the file names. */
  pods(): readonly Pod[] {
    const files = new Map<string, string>()
    const doubles = new Set<string>()
    const pods: Pod[] = []
    for (const [name, entry] of [...this.#entries].sort(([left], [right]) => (left < right ? -1 : 1))) {
      for (const pod of entry.pods) {
        const fullName = podFullName(pod)
        const other = files.getOrInsert(fullName, name)
        if (other !== name) this.#noteDouble({ name, other, fullName }, doubles)
        pods.push(pod)
      }
    }
    for (const key of this.#loggedDoubles) if (!doubles.has(key)) this.#loggedDoubles.delete(key)
    return pods
  }

  /** Takes in the complete list of names; true if the pods may have changed. */
  async replaceAll(names: readonly string[]): Promise<boolean> {
    const wanted = new Set(names)
    const gone = [...this.#entries.keys()].filter((name) => !wanted.has(name))
    return await this.refresh([...gone, ...names])
  }

  /** Looks again at some names; true if the pods may have changed. */
  async refresh(names: Iterable<string>): Promise<boolean> {
    let isChanged = false
    // One after the other: at most one file is in memory at a time.
    for (const name of names) {
      if (isIgnored(name)) continue
      isChanged = (await this.#refreshOne(name)) || isChanged
    }
    return isChanged
  }

  async #refreshOne(name: string): Promise<boolean> {
    const path = join(this.#directory, name)
    const found = await inspectPath(path)
    const before = this.#entries.get(name)
    if (found.kind === 'missing') return this.#entries.delete(name) && (before?.pods.length ?? 0) > 0
    if (found.kind === 'failed') return this.#skip(name, found.reason, before?.pods ?? [])
    if (found.kind !== 'file') return this.#skip(name, found.kind === 'directory' ? 'a directory' : found.reason, [])
    if (found.stamp === before?.stamp) return false
    const pods = await this.#readPods(path, (before?.pods.length ?? 0) > 0)
    this.#entries.set(name, { stamp: found.stamp, pods: pods ?? before?.pods ?? [] })
    return pods !== undefined
  }

  /** Remembers the reason in place of a stamp, so that it is logged once. */
  #skip(name: string, reason: string, pods: readonly Pod[]): boolean {
    const before = this.#entries.get(name)
    if (before?.stamp === reason) return false
    this.#entries.set(name, { stamp: reason, pods })
    this.#logger.warn('not a manifest file, skipped', { file: join(this.#directory, name), reason })
    return (before?.pods.length ?? 0) !== pods.length
  }

  async #readPods(path: string, hasLastGood: boolean): Promise<readonly Pod[] | undefined> {
    const content = await readManifestFile(path, MAX_MANIFEST_BYTES)
    if (content.kind === 'unusable') {
      this.#refuse(path, [{ path: '', rule: content.reason, line: 1, column: 1 }], hasLastGood)
      return undefined
    }
    try {
      const { pods, warnings } = this.#decode(content.bytes, path)
      for (const warning of warnings) {
        this.#logger.warn('manifest has a field that is not used', { file: path, ...toFields(warning) })
      }
      return pods
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error
      this.#refuse(path, error.problems, hasLastGood)
      return undefined
    }
  }

  #refuse(file: string, problems: readonly ManifestProblem[], hasLastGood: boolean): void {
    const [first, ...others] = problems
    const more = others.slice(0, MAX_LOGGED_PROBLEMS - 1).map(formatProblem)
    this.#logger.error(
      hasLastGood ? 'manifest is invalid, the last good version keeps running' : 'manifest is invalid',
      { file, ...(first && toFields(first)), ...(more.length > 0 && { more }), problems: problems.length },
    )
  }

  #noteDouble(double: { name: string; other: string; fullName: string }, doubles: Set<string>): void {
    const key = JSON.stringify(double)
    doubles.add(key)
    if (this.#loggedDoubles.has(key)) return
    this.#loggedDoubles.add(key)
    this.#logger.error('two manifests have a pod of the same name, one of them runs', {
      file: join(this.#directory, double.name),
      other: join(this.#directory, double.other),
      pod: double.fullName,
    })
  }
}

/** Names with a leading dot are not manifests. */
function isIgnored(name: string): boolean {
  return name.startsWith('.')
}

function toFields({ line, column, path, rule }: ManifestProblem) {
  return { line, column, field: path, reason: rule }
}
