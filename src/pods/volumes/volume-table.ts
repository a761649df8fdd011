import { DeadlineError } from '../../base/async/abort-errors.ts'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { VolumesError } from '../../model/pod/volumes-error.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { UsedVolume } from './compute-desired-volumes.ts'
import type { NoteStep } from '../../base/telemetry/note-step.ts'
import type { PodVolume } from './pod-volume.ts'
import type { VolumeReports } from './volume-reports.ts'
import type { VolumePlace, DesiredVolume } from './desired-volume.ts'
import { errorText } from '../../base/telemetry/error-text.ts'

/** A volume of a pod, resolved: its kind and what is to be mounted. */
export interface ResolvedVolume {
  readonly plugin: string
  readonly refreshed: boolean
  readonly desired: DesiredVolume
}

export interface VolumeTableDeps {
  readonly clock: Clock
  readonly group: TaskGroup
  readonly reports: Pick<VolumeReports, 'allThere' | 'failed'>
  readonly log: Logger
  /** Finds out what a volume of a pod is; fails for one that is not available now, or never on this node. */
  readonly resolve: (pod: Pod, used: UsedVolume, signal: AbortSignal) => Promise<ResolvedVolume>
  /** Found: it lay on the disk before a pod asked for it. */
  readonly createVolume: (plugin: string, place: VolumePlace, found: boolean) => PodVolume
  /** Waits to be attached to this node by the cluster. */
  readonly isUnattached: (volume: PodVolume) => boolean
  /** Takes away what is left of a pod besides its volumes. */
  readonly removeRest: (signal: AbortSignal) => Promise<void>
}

/** What a pod is to have. */
export interface TableRequest {
  readonly pod: Pod
  readonly used: readonly UsedVolume[]
  readonly noteStep: NoteStep
}

interface MissingVolumes extends TableRequest {
  readonly missing: readonly UsedVolume[]
}

// As long as the Go kubelet waits in one go; the caller reports it and asks again.
const WAIT_MS = 123_000

/** The volumes of one pod: those that it should have and those that are there. */
export class VolumeTable {
  readonly #deps: VolumeTableDeps
  /** By path. */
  readonly #volumes = new Map<string, PodVolume>()
  /** By the name that the spec gives them. */
  readonly #byName = new Map<string, { readonly volume: PodVolume; readonly resolved: ResolvedVolume }>()
  #releasing: AbortScope | undefined
  #keeping: AbortScope | undefined

  constructor(deps: VolumeTableDeps) {
    this.#deps = deps
  }

  get volumes(): readonly PodVolume[] {
    return [...this.#volumes.values()]
  }

  /** The pod has ended, and its volumes are being taken down. */
  get isReleasing(): boolean {
    return this.#releasing !== undefined
  }

  find(name: string): PodVolume | undefined {
    return this.#byName.get(name)?.volume
  }

  /** Takes in a volume that lies on the disk: perhaps it is mounted, perhaps a container uses it. */
  adopt(plugin: string, place: VolumePlace): void {
    this.#volumes.set(place.path, this.#deps.createVolume(plugin, place, true))
  }

  /** Something that volumes of the pod show has changed, or is there now. */
  contentChanged(): void {
    for (const { volume, resolved } of this.#byName.values()) if (resolved.refreshed) volume.contentChanged()
  }

  /** Resolves when all are there. One that cannot be resolved fails at once, and the others are mounted meanwhile. */
  async ensure(request: TableRequest, signal: AbortSignal): Promise<void> {
    const missing = this.#want(request)
    this.#keeping?.abort(new Error('A caller waits for the volumes'))
    if (missing.length > 0) await this.#ensure({ ...request, missing }, signal)
    this.#deps.reports.allThere(this)
  }

  /** The same in the background: one round goes on until all are there, or is given up. */
  keep(request: TableRequest): void {
    const missing = this.#want(request)
    if (missing.length === 0 || this.#keeping !== undefined) return
    const { group, reports, log } = this.#deps
    const scope = new AbortScope(group.signal)
    this.#keeping = scope
    group.run(`volumes of pod ${request.pod.metadata.uid}`, async () => {
      using _ = scope
      try {
        await this.#ensure({ ...request, missing }, scope.signal)
        reports.allThere(this)
      } catch (error) {
        // Reported already, or another caller has taken over; anything else is a mistake in here, and no other pod's trouble.
        if (scope.signal.aborted || error instanceof VolumesError) return
        log.error('volumes of a pod failed, will try again', { uid: request.pod.metadata.uid, error })
      } finally {
        if (this.#keeping === scope) this.#keeping = undefined
      }
    })
  }

  /** Resolves when nothing of the pod's volumes is left, neither here nor on the disk. */
  async release(noteStep: NoteStep, signal: AbortSignal): Promise<void> {
    this.#keeping?.abort(new Error('The pod has ended'))
    using scope = new AbortScope(signal)
    this.#releasing = scope
    try {
      const wait = { clock: this.#deps.clock, ms: WAIT_MS, what: 'unmounting volumes' }
      await withDeadline(wait, (s) => this.#takeDownAll(noteStep, s), scope.signal)
      this.#volumes.clear()
      this.#byName.clear()
    } catch (error) {
      signal.throwIfAborted()
      const left = this.volumes.filter(({ isAbsent }) => !isAbsent).map(({ place }) => place.specName)
      throw new VolumesError(`Cannot unmount volumes [${left.sort().join(' ')}]: ${errorText(error)}`, { cause: error })
    } finally {
      this.#releasing = undefined
    }
  }

  /** The pod is to have these volumes: returns those that are not there. */
  #want({ pod, used }: TableRequest): readonly UsedVolume[] {
    this.#releasing?.abort(new Error('The pod is wanted again'))
    return used.filter((one) => !this.#keepFresh(pod, one))
  }

  /** Is it there? Then it is updated, where its kind can change. */
  #keepFresh(pod: Pod, { volume: { name } }: UsedVolume): boolean {
    const known = this.#byName.get(name)
    if (known?.volume.ready === undefined) return false
    if (known.resolved.refreshed) known.volume.refresh({ ...known.resolved.desired, pod })
    return true
  }

  async #ensure(request: MissingVolumes, signal: AbortSignal): Promise<void> {
    const { pod, missing } = request
    const failures = new Map<string, string>()
    try {
      const wait = { clock: this.#deps.clock, ms: WAIT_MS, what: 'mounting volumes' }
      await withDeadline(wait, (s) => this.#ensureAll({ ...request, failures }, s), signal)
    } catch (error) {
      signal.throwIfAborted()
      if (failures.size === 0 && !(error instanceof DeadlineError)) throw error
      const unmounted = missing.map(({ volume }) => volume.name).filter((name) => this.find(name)?.ready === undefined)
      // Between the last check and the end of the time everything may have come.
      if (unmounted.length === 0) return
      const unattached = unmounted.filter((name) => this.#isUnattached(name))
      const failure = computeVolumesFailure({ unmounted, unattached, failures }, error)
      this.#deps.reports.failed(this, pod, failure)
      throw failure
    }
  }

  #isUnattached(name: string): boolean {
    const volume = this.find(name)
    return volume !== undefined && this.#deps.isUnattached(volume)
  }

  async #ensureAll(
    request: MissingVolumes & { readonly failures: Map<string, string> },
    signal: AbortSignal,
  ): Promise<void> {
    const { pod, missing, noteStep, failures } = request
    const coming: Promise<void>[] = []
    await Promise.all(
      missing.map(async (used) => {
        try {
          const resolved = await this.#deps.resolve(pod, used, signal)
          // A later call may have taken everything down.
          signal.throwIfAborted()
          const ensuring = this.#take(used, resolved).ensure(resolved.desired, noteStep, signal)
          // Heard below, unless another volume failed before.
          ensuring.catch(() => {})
          coming.push(ensuring)
        } catch (error) {
          signal.throwIfAborted()
          failures.set(used.volume.name, errorText(error))
        }
      }),
    )
    if (failures.size > 0) throw new VolumesError('Cannot find out what the volumes are')
    await Promise.all(coming)
  }

  #take({ volume: { name } }: UsedVolume, resolved: ResolvedVolume): PodVolume {
    const { plugin, desired } = resolved
    const volume = this.#volumes.get(desired.path) ?? this.#deps.createVolume(plugin, desired, false)
    this.#volumes.set(desired.path, volume)
    this.#byName.set(name, { volume, resolved })
    return volume
  }

  async #takeDownAll(noteStep: NoteStep, signal: AbortSignal): Promise<void> {
    await Promise.all(this.volumes.map((volume) => volume.takeDown(noteStep, signal)))
    await this.#deps.removeRest(signal)
    signal.throwIfAborted()
  }
}

/** What users read about volumes that were not mounted, in the words that tools match on. */
function computeVolumesFailure(
  volumes: {
    readonly unmounted: readonly string[]
    /** Those of them that wait to be attached by the cluster. */
    readonly unattached: readonly string[]
    /** Why volumes could not be found out, by name. */
    readonly failures: ReadonlyMap<string, string>
  },
  cause: unknown,
): VolumesError {
  const { unmounted, unattached, failures } = volumes
  const list = (names: Iterable<string>) => `[${[...names].sort().join(' ')}]`
  const why = failures.size === 0 ? 'context deadline exceeded' : [...failures.values()].sort().join('; ')
  const text = `unmounted volumes=${list(unmounted)}, unattached volumes=${list(unattached)}, failed to process volumes=${list(failures.keys())}: ${why}`
  return new VolumesError(text, { cause })
}
