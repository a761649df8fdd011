import type { Clock } from '../../../base/async/clock.ts'
import { KeyedLock } from '../../../base/async/keyed-lock.ts'
import type { TreeUsage } from '../../../system/files/file-usage.ts'
import type { ProjectQuotas } from '../../../system/mounts/project-quotas.ts'
import type { RecordFolder } from '../../../system/files/state/create-record-folder.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'

export interface VolumeProjectsDeps {
  readonly quotas: ProjectQuotas
  /** A file for each project in use, with the directory that has it. */
  readonly records: RecordFolder
  readonly isDirectory: (path: string) => Promise<boolean>
  readonly clock: Clock
  readonly log: Logger
}

// Those below are for administrators. Parity: pkg/volume/util/fsquota, so that two kubelets agree.
const FIRST_ID = 1_048_577
// Volumes that are measured together share one report.
const REPORT_LASTS_MS = 5000

/**
 * Counts what volumes take by giving each a project of the file system, which costs nothing to read however large they are. Where that cannot be,
 * a volume has none, it is measured by walking through it.
 */
export class VolumeProjects {
  readonly #deps: VolumeProjectsDeps
  readonly #ids = new Map<string, number>()
  readonly #taken: Set<number>
  readonly #lock = new KeyedLock()
  readonly #counting = new Map<string, boolean>()
  readonly #reports = new Map<string, { readonly at: number; readonly usages: ReadonlyMap<number, TreeUsage> }>()
  #isReported = false

  private constructor(deps: VolumeProjectsDeps, foreign: ReadonlySet<number>) {
    this.#deps = deps
    this.#taken = new Set(foreign)
  }

  /** Finds the projects of volumes that an earlier agent made. */
  static async load(deps: VolumeProjectsDeps): Promise<VolumeProjects> {
    const projects = new VolumeProjects(deps, await deps.quotas.foreignIds())
    for (const name of await deps.records.names()) {
      const directory = (await deps.records.read(name)) ?? ''
      if (directory !== '' && (await deps.isDirectory(directory))) projects.#take(directory, Number(name))
      else await deps.records.remove(name)
    }
    return projects
  }

  /** Gives an empty directory a project where the file system counts for projects. That it has none is no failure. */
  async assign(directory: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#lock.hold('', () => this.#assignNow(directory, signal), signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#warn('cannot give a volume a project, walking through such volumes', { directory, error })
    }
  }

  has(directory: string): boolean {
    return this.#ids.has(directory)
  }

  /** The directory is gone; another may have its project. */
  async release(directory: string): Promise<void> {
    const id = this.#ids.get(directory)
    if (id === undefined) return
    await this.#deps.records.remove(String(id))
    this.#ids.delete(directory)
    this.#taken.delete(id)
  }

  /** Undefined for a directory that must be walked through. */
  async usageOf(directory: string, signal: AbortSignal): Promise<TreeUsage | undefined> {
    const id = this.#ids.get(directory)
    if (id === undefined) return undefined
    try {
      const point = await this.#deps.quotas.pointOf(directory)
      return (await this.#lock.hold(point, () => this.#report(point, signal), signal)).get(id)
    } catch (error) {
      signal.throwIfAborted()
      this.#warn('cannot read what projects take, walking through their volumes', { directory, error })
      return undefined
    }
  }

  async #assignNow(directory: string, signal: AbortSignal): Promise<void> {
    if (this.#ids.has(directory)) return
    const { quotas, records } = this.#deps
    const point = await quotas.pointOf(directory)
    if (!(await this.#counts(point, signal)))
      return this.#warn('the file system counts for no projects, walking through volumes', { point })
    const used = await this.#report(point, signal)
    const id = this.#freeId(used)
    // First of all: whatever happens to the agent, no other volume gets it.
    await records.write(String(id), directory)
    this.#take(directory, id)
    try {
      await quotas.assign(directory, id, signal)
    } catch (error) {
      await this.release(directory)
      throw error
    }
  }

  async #counts(point: string, signal: AbortSignal): Promise<boolean> {
    const known = this.#counting.get(point)
    if (known !== undefined) return known
    const counts = await this.#deps.quotas.counts(point, signal)
    this.#counting.set(point, counts)
    return counts
  }

  async #report(point: string, signal: AbortSignal): Promise<ReadonlyMap<number, TreeUsage>> {
    const { quotas, clock } = this.#deps
    const last = this.#reports.get(point)
    if (last !== undefined && clock.monotonic() - last.at < REPORT_LASTS_MS) return last.usages
    const at = clock.monotonic()
    const usages = await quotas.report(point, signal)
    this.#reports.set(point, { at, usages })
    return usages
  }

  /** The lowest that is free, and under which nothing is left. */
  #freeId(used: ReadonlyMap<number, TreeUsage>): number {
    let id = FIRST_ID
    while (this.#taken.has(id) || (used.get(id)?.inodes ?? 0) > 0) id += 1
    return id
  }

  #take(directory: string, id: number): void {
    this.#ids.set(directory, id)
    this.#taken.add(id)
  }

  #warn(message: string, fields: Record<string, unknown>): void {
    if (!this.#isReported) this.#deps.log.warn(message, fields)
    this.#isReported = true
  }
}
