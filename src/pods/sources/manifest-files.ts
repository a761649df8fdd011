import { join } from 'node:path'
import { inspectPath, isLink, readBoundedFile } from '../../system/files/read-bounded-file.ts'
import { podFullName, podLogName } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { ManifestError, formatManifestProblem } from '../../model/schema/manifest-error.ts'
import type { ManifestProblem } from '../../model/schema/manifest-error.ts'
import type { DecodedManifest } from '../../model/schema/decode-pods.ts'
import { MAX_MANIFEST_BYTES } from '../../model/schema/parse-manifest.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { findNames } from './find-names.ts'
import type { RefusedManifest, RefusedManifests, UnusedField } from './refused-manifests.ts'

/** Content of a manifest at a path → its pods; throws ManifestError. */
export type DecodeManifest = (bytes: Uint8Array, path: string) => DecodedManifest

/** Copies of good manifests that survive the agent. */
export interface LastGoodManifests {
  read(name: string): Promise<Uint8Array | undefined>
  write(name: string, bytes: Uint8Array): Promise<void>
  retain(names: readonly string[]): Promise<void>
}

export interface ManifestFilesDeps {
  readonly decode: DecodeManifest
  readonly lastGood: LastGoodManifests
  readonly logger: Logger
  readonly clock: Clock
  /** Called for each manifest that gave no pod. */
  readonly onRefused?: () => void
  /** Where the manifests are listed that are refused at the moment. */
  readonly refused?: Pick<RefusedManifests, 'set' | 'setDuplicates' | 'delete'>
}

// A program that writes a file in place, without a rename, has mostly finished by then.
const SETTLE_MS = 250

type ReadPods =
  | { readonly kind: 'pods'; readonly pods: readonly Pod[]; readonly unused: readonly UnusedField[] }
  | { readonly kind: 'invalid'; readonly problems: readonly ManifestProblem[]; readonly names: readonly string[] }
  | { readonly kind: 'failed'; readonly reason: string }

interface Entry {
  /** Shows whether the file has changed, or why it is not read. */
  readonly stamp: string
  /** Of the file that was read. */
  readonly identity?: string
  /** Of the last good version: a manifest edited into something invalid does not end its workload. */
  readonly pods: readonly Pod[]
}

// Of a manifest that is wrong all over the first few places are enough to go on.
const MAX_LOGGED_PROBLEMS = 10

/** The manifests of one directory as last read. A file is decoded, and complained about, once per change. */
export class ManifestFiles {
  readonly #directory: string
  readonly #deps: ManifestFilesDeps
  readonly #logger: Logger
  readonly #entries = new Map<string, Entry>()
  #loggedDuplicates: ReadonlySet<string> = new Set()
  /** Good manifests that are not on disk yet. */
  readonly #toKeep = new Map<string, Uint8Array>()

  constructor(directory: string, deps: ManifestFilesDeps) {
    this.#directory = directory
    this.#deps = deps
    this.#logger = deps.logger
  }

  /** Puts the good manifests on disk and forgets those of files that are gone. After the pods are emitted: they do not wait for it. */
  async keepGood(): Promise<void> {
    const { lastGood } = this.#deps
    try {
      for (const [name, bytes] of this.#toKeep) {
        this.#toKeep.delete(name)
        await lastGood.write(name, bytes)
      }
      await lastGood.retain([...this.#entries.keys()])
    } catch (error) {
      this.#logger.warn('cannot keep a copy of the good manifests', { directory: this.#directory, error })
    }
  }

  /** Every pod, in the order of the file names. */
  pods(): readonly Pod[] {
    const files = new Map<string, string>()
    const duplicates: RefusedManifest[] = []
    const pods: Pod[] = []
    for (const [name, entry] of [...this.#entries].sort(([left], [right]) => (left < right ? -1 : 1))) {
      for (const pod of entry.pods) {
        const fullName = podFullName(pod)
        const other = files.getOrInsert(fullName, name)
        if (other !== name) duplicates.push(this.#toDuplicate(name, other, pod))
        pods.push(pod)
      }
    }
    this.#reportDuplicates(duplicates)
    return pods
  }

  /** Takes in the complete list of names; true if the pods may have changed. */
  async replaceAll(names: readonly string[], signal: AbortSignal): Promise<boolean> {
    const wanted = new Set(names)
    const gone = [...this.#entries.keys()].filter((name) => !wanted.has(name))
    return await this.refresh([...gone, ...names], signal)
  }

  /** The files of these names are gone; true if pods went with them. */
  forget(names: readonly string[]): boolean {
    const known = names.filter((name) => (this.#entries.get(name)?.pods.length ?? 0) > 0)
    for (const name of known) this.#entries.delete(name)
    for (const name of names) this.#deps.refused?.delete(join(this.#directory, name))
    return known.length > 0
  }

  /** Those of these names whose file is still the one that was read. Of a link only the target can be compared, so it is none. */
  async findUnchanged(names: readonly string[]): Promise<readonly string[]> {
    const unchanged: string[] = []
    for (const name of names) {
      const path = join(this.#directory, name)
      const found = await inspectPath(path)
      if (found.kind !== 'file' || found.identity !== this.#entries.get(name)?.identity) continue
      if (!(await isLink(path))) unchanged.push(name)
    }
    return unchanged
  }

  /** Reads some names again; true if the pods may have changed. */
  async refresh(names: Iterable<string>, signal: AbortSignal): Promise<boolean> {
    let isChanged = false
    // One after the other: at most one file is in memory at a time.
    for (const name of names) {
      if (isIgnored(name)) continue
      isChanged = (await this.#refreshOne(name, signal)) || isChanged
    }
    return isChanged
  }

  async #refreshOne(name: string, signal: AbortSignal, isSettled = false): Promise<boolean> {
    const path = join(this.#directory, name)
    const found = await inspectPath(path)
    const before = this.#entries.get(name)
    if (found.kind === 'missing') this.#deps.refused?.delete(path)
    if (found.kind === 'missing') return this.#entries.delete(name) && (before?.pods.length ?? 0) > 0
    if (found.kind === 'failed') return this.#skip(name, found.reason, before?.pods ?? [])
    if (found.kind !== 'file') return this.#skip(name, found.kind === 'directory' ? 'a directory' : found.reason, [])
    if (found.stamp === before?.stamp) return false
    const read = await this.#readPods(name)
    if (read.kind === 'pods') {
      this.#entries.set(name, { stamp: found.stamp, identity: found.identity, pods: read.pods })
      this.#deps.refused?.delete(path, read.unused)
      return true
    }
    if (read.kind === 'failed') return await this.#putOff(name, read.reason)
    const age = this.#deps.clock.now() - found.modifiedAt
    if (age >= 0 && age < SETTLE_MS && !isSettled) {
      // It may still be written to: what is wrong now may be right in a moment.
      await this.#deps.clock.sleep(SETTLE_MS, signal)
      return await this.#refreshOne(name, signal, true)
    }
    const pods = before?.pods ?? (await this.#readLastGood(name)) ?? []
    this.#refuse(path, read, pods.length > 0)
    this.#entries.set(name, { stamp: found.stamp, identity: found.identity, pods })
    return before === undefined && pods.length > 0
  }

  /** A file that cannot be read now, for want of a descriptor say, is read again at the next check. */
  async #putOff(name: string, reason: string): Promise<boolean> {
    const before = this.#entries.get(name)
    const pods = before?.pods ?? (await this.#readLastGood(name)) ?? []
    if (before?.stamp !== reason) {
      this.#deps.onRefused?.()
      this.#logger.warn('cannot read a manifest, will try again', { file: join(this.#directory, name), reason })
    }
    this.#entries.set(name, { stamp: reason, pods })
    this.#deps.refused?.set({ file: join(this.#directory, name), reason, hasLastGood: pods.length > 0 })
    return before === undefined && pods.length > 0
  }

  /** Remembers the reason in place of a stamp, so that it is logged once. */
  #skip(name: string, reason: string, pods: readonly Pod[]): boolean {
    const before = this.#entries.get(name)
    if (before?.stamp === reason) return false
    this.#entries.set(name, { stamp: reason, pods })
    const file = join(this.#directory, name)
    this.#deps.refused?.set({ file, reason: `not a manifest file: ${reason}`, hasLastGood: pods.length > 0 })
    this.#logger.warn('not a manifest file, skipped', { file, reason })
    return (before?.pods.length ?? 0) !== pods.length
  }

  async #readPods(name: string): Promise<ReadPods> {
    const path = join(this.#directory, name)
    const content = await readBoundedFile(path, MAX_MANIFEST_BYTES)
    if (content.kind === 'failed') return content
    if (content.kind === 'unusable') {
      return { kind: 'invalid', problems: [{ path: '', rule: content.reason, line: 1, column: 1 }], names: [] }
    }
    try {
      const { pods, warnings } = this.#deps.decode(content.bytes, path)
      for (const warning of warnings) {
        this.#logger.warn('manifest has a field that is not used', { file: path, ...toFields(warning) })
      }
      this.#toKeep.set(name, content.bytes)
      return { kind: 'pods', pods, unused: warnings.map((warning) => toUnused(path, warning, pods)) }
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error
      return { kind: 'invalid', problems: error.problems, names: findNames(content.bytes) }
    }
  }

  /** The pods of the version that an earlier agent found good. */
  async #readLastGood(name: string): Promise<readonly Pod[] | undefined> {
    const bytes = await this.#deps.lastGood.read(name)
    try {
      return bytes === undefined ? undefined : this.#deps.decode(bytes, join(this.#directory, name)).pods
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error
      this.#logger.warn('cannot use what was last good of a manifest', { file: join(this.#directory, name), error })
      return undefined
    }
  }

  #refuse(
    file: string,
    { problems, names }: Pick<ReadPods & { kind: 'invalid' }, 'problems' | 'names'>,
    hasLastGood: boolean,
  ): void {
    this.#deps.onRefused?.()
    const [first, ...others] = problems
    const reason = problems
      .map(({ path, rule }) => (path === '' ? rule : `${path}: ${rule}`))
      .slice(0, MAX_LOGGED_PROBLEMS)
    this.#deps.refused?.set({ file, line: first?.line, reason: reason.join('; '), hasLastGood, names })
    const more = others.slice(0, MAX_LOGGED_PROBLEMS - 1).map(formatManifestProblem)
    this.#logger.error(
      hasLastGood ? 'manifest is invalid, the last good version keeps running' : 'manifest is invalid',
      { file, ...(first && toFields(first)), ...(more.length > 0 && { more }), problems: problems.length },
    )
  }

  #toDuplicate(name: string, other: string, pod: Pod): RefusedManifest {
    const names = [podLogName(pod)]
    const reason = `${join(this.#directory, other)} has a pod of the same name, ${names.join()}: only one of them runs`
    return { file: join(this.#directory, name), reason, hasLastGood: false, names }
  }

  #reportDuplicates(duplicates: readonly RefusedManifest[]): void {
    this.#deps.refused?.setDuplicates(duplicates)
    for (const { file, reason } of duplicates)
      if (!this.#loggedDuplicates.has(`${file}: ${reason}`))
        this.#logger.error('two manifests have a pod of the same name', { file, reason })
    this.#loggedDuplicates = new Set(duplicates.map(({ file, reason }) => `${file}: ${reason}`))
  }
}

/** Names with a leading dot are not manifests. */
function isIgnored(name: string): boolean {
  return name.startsWith('.')
}

function toUnused(file: string, { path, rule, line }: ManifestProblem, pods: readonly Pod[]): UnusedField {
  return { file, line, reason: `${path}: ${rule}`, names: pods.map(podLogName) }
}

function toFields({ line, column, path, rule }: ManifestProblem) {
  return { line, column, field: path, reason: rule }
}
