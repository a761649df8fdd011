import { basename, dirname, join } from 'node:path'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { computeNextWait } from '../../base/async/back-off.ts'
import { inspectPath, listNames } from '../../system/files/read-bounded-file.ts'
import { watchDirectory } from '../../system/files/watch-directory.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { ChangeHints } from './change-hints.ts'
import type { Changes } from './change-hints.ts'
import { ManifestFiles } from './manifest-files.ts'
import type { DecodeManifest, LastGoodManifests } from './manifest-files.ts'
import type { RefusedManifests } from './refused-manifests.ts'

/** What the file source needs. */
export interface FileSourceDeps {
  /** A directory of manifests, or one manifest. */
  readonly path: string
  readonly checkFrequencyMs: number
  readonly decode: DecodeManifest
  readonly lastGood: LastGoodManifests
  readonly clock: Clock
  readonly logger: Logger
  /** Called for each manifest that gave no pod, and when the path cannot be read. */
  readonly onRefused?: () => void
  readonly refused?: RefusedManifests
  /** Takes the complete set; called when it changed, and once at the start. */
  readonly emit: (pods: readonly Pod[]) => void
}

// One save of an editor, or one file written in pieces, is several events within this time.
const COALESCE_MS = 3
const WATCH_RETRIES = { firstMs: 1000, longestMs: 20_000 }

/**
 * Reads the manifests at a path, again whenever the kernel reports a change and at the latest after the check frequency.
 * Differs from Go on purpose: a manifest that becomes invalid keeps the pod of its last good version.
 */
export async function runFileSource(deps: FileSourceDeps, signal: AbortSignal): Promise<void> {
  const source = new FileSource(deps)
  try {
    while (!signal.aborted) await source.step(signal)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    source[Symbol.dispose]()
  }
}

class FileSource implements Disposable {
  readonly #deps: FileSourceDeps
  readonly #hints = new ChangeHints()
  #files: ManifestFiles
  /** The directory whose names matter: the path itself, or where the one file is. */
  #directory: string
  #single: string | undefined
  #watch: { readonly identity: string; readonly handle: Disposable } | undefined
  #retryMs = WATCH_RETRIES.firstMs
  #nextCheck = 0
  /** What was reported to be renamed, once, before the last reading. */
  #renamedBefore: ReadonlySet<string> = new Set()
  #hasEmitted = false
  #loggedTrouble: string | undefined
  #loggedWatchTrouble: string | undefined

  constructor(deps: FileSourceDeps) {
    this.#deps = deps
    this.#directory = deps.path
    this.#files = new ManifestFiles(deps.path, deps)
  }

  /** Waits for a change or the next check, reads, and emits what it found. */
  async step(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    const gone = this.#hasEmitted || this.#loggedTrouble !== undefined ? await this.#wait(signal) : []
    const isDue = clock.monotonic() >= this.#nextCheck
    const { names, ...changes } = this.#hints.take()
    const recreated = changes.recreated.concat(gone, await this.#findRecreated(changes.renamed))
    this.#renamedBefore = new Set(changes.renamed.filter((name) => !recreated.includes(name)))
    if (isDue) this.#nextCheck = clock.monotonic() + this.#deps.checkFrequencyMs
    const isChanged = await this.#refresh({ names: isDue ? 'all' : names, recreated }, signal)
    if (signal.aborted || isChanged === undefined) return
    if (isChanged || !this.#hasEmitted) await this.#emit()
  }

  async #emit(): Promise<void> {
    this.#hasEmitted = true
    this.#deps.emit(this.#files.pods())
    await this.#files.keepGood()
  }

  /** Resolves with the names that were seen to be gone: what is there of them afterwards was made again. */
  async #wait(signal: AbortSignal): Promise<readonly string[]> {
    const { clock } = this.#deps
    using scope = new AbortScope(signal)
    const untilCheck = Math.max(0, this.#nextCheck - clock.monotonic())
    const idle = this.#watch === undefined ? Math.min(this.#retryMs, untilCheck) : untilCheck
    const timer = clock.sleep(idle, scope.signal)
    const isHint = await Promise.race([this.#hints.pending.then(() => true), timer.then(() => false)])
    if (!isHint) return []
    const gone = await this.#findRemoved()
    if (gone.length === 0) await clock.sleep(COALESCE_MS, signal)
    return gone
  }

  /** The names, if nothing but removals is reported: a file that is gone will not change any more, so there is nothing to wait for. */
  async #findRemoved(): Promise<readonly string[]> {
    const names = this.#hints.peek()
    if (names === 'all') return []
    const found = await Promise.all(names.map((name) => inspectPath(join(this.#directory, name))))
    return found.every(({ kind }) => kind === 'missing') ? names : []
  }

  /**
   * A file that is made again just before it is read is reported twice all the same: that it went, before the reading, and that it was made, after it, when
   * it is still the one that was read.
   */
  async #findRecreated(renamed: readonly string[]): Promise<readonly string[]> {
    return await this.#files.findUnchanged(renamed.filter((name) => this.#renamedBefore.has(name)))
  }

  /** True if the pods may have changed; undefined if the path cannot be read, so that nothing is known. */
  async #refresh(
    { names: hints, recreated }: Pick<Changes, 'names' | 'recreated'>,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    const found = await inspectPath(this.#deps.path)
    if (found.kind === 'special' || found.kind === 'failed') return this.#note(found.reason)
    if (found.kind === 'missing') {
      this.#note('missing')
      this.#unwatch()
      return await this.#files.replaceAll([], signal)
    }
    this.#follow(found.kind === 'file')
    const isNewWatch = await this.#ensureWatch()
    try {
      // The pods of a file that was removed end, also when it is there again, with the same content, before the folder was read.
      if (this.#hasEmitted && this.#files.forget(recreated)) await this.#emit()
      const names = isNewWatch || hints === 'all' || hints.some(isLayoutChange) ? 'all' : hints
      const isChanged = await this.#readNames(names, signal)
      this.#loggedTrouble = undefined
      return isChanged
    } catch (error) {
      return this.#note(errorMessage(error))
    }
  }

  async #readNames(names: readonly string[] | 'all', signal: AbortSignal): Promise<boolean> {
    const single = this.#single
    if (single !== undefined) {
      return names === 'all' || names.includes(single) ? await this.#files.refresh([single], signal) : false
    }
    return names === 'all'
      ? await this.#files.replaceAll(await listNames(this.#directory), signal)
      : await this.#files.refresh(names, signal)
  }

  /** A path can turn from a file into a directory and back. */
  #follow(isFile: boolean): void {
    const { path } = this.#deps
    const directory = isFile ? dirname(path) : path
    this.#single = isFile ? basename(path) : undefined
    if (directory === this.#directory) return
    this.#unwatch()
    this.#directory = directory
    this.#files = new ManifestFiles(directory, this.#deps)
  }

  /** True if a watch began, so that changes before it may have been missed. */
  async #ensureWatch(): Promise<boolean> {
    const found = await inspectPath(this.#directory)
    const identity = found.kind === 'directory' ? found.identity : ''
    if (this.#watch?.identity === identity) return false
    this.#unwatch()
    try {
      const handle = watchDirectory(this.#directory, {
        onChange: (name, what) => this.#hints.add(name, what),
        onFailure: (error) => this.#lose(error),
      })
      this.#watch = { identity, handle }
      this.#retryMs = WATCH_RETRIES.firstMs
      this.#loggedWatchTrouble = undefined
      return true
    } catch (error) {
      this.#lose(error as Error)
      return false
    }
  }

  #lose(error: Error): void {
    this.#unwatch()
    this.#retryMs = computeNextWait(WATCH_RETRIES, this.#retryMs)
    if (this.#loggedWatchTrouble === error.message) return
    this.#loggedWatchTrouble = error.message
    this.#deps.logger.warn('cannot watch the manifests, looking at them now and then', {
      path: this.#directory,
      reason: error.message,
    })
  }

  #unwatch(): void {
    this.#watch?.handle[Symbol.dispose]()
    this.#watch = undefined
  }

  #note(trouble: string): undefined {
    if (this.#loggedTrouble === trouble) return
    this.#loggedTrouble = trouble
    this.#deps.onRefused?.()
    this.#deps.logger.warn('cannot read the manifests', { path: this.#deps.path, reason: trouble })
  }

  [Symbol.dispose](): void {
    this.#unwatch()
  }
}

/** A mounted ConfigMap changes all its files by exchanging a link called "..data". */
function isLayoutChange(name: string): boolean {
  return name.startsWith('..')
}
