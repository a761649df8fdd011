import { DeadlineError } from '../async/abort-errors.ts'
import { AbortScope } from '../async/abort-scope.ts'
import type { Clock } from '../async/clock.ts'
import { withDeadline } from '../async/deadline.ts'
import type { Pod } from '../model/pod.ts'
import { VolumesError } from '../model/volumes-error.ts'
import { errorText } from '../telemetry/create-logger.ts'
import type { UsedVolume } from './compute-desired-volumes.ts'
import { computeVolumesFailure } from './compute-volumes-failure.ts'
import type { NoteStep, PodVolume } from './pod-volume.ts'
import type { VolumePlace, VolumeWish } from './volume-wish.ts'

/** A volume of a pod, found out: who brings it and what is to be brought. */
export interface ResolvedVolume {
  readonly plugin: string
  readonly refreshed: boolean
  readonly wish: VolumeWish
}

export interface VolumeTableDeps {
  readonly clock: Clock
  /** Finds out what a volume of a pod is; fails for one that cannot be had now, or not here at all. */
  readonly resolve: (pod: Pod, used: UsedVolume, signal: AbortSignal) => Promise<ResolvedVolume>
  /** Found: it lay on the disk before anybody asked for it. */
  readonly createVolume: (plugin: string, place: VolumePlace, found: boolean) => PodVolume
  /** Takes away what is left of a pod besides its volumes. */
  readonly removeRest: (signal: AbortSignal) => Promise<void>
}

// As long as the Go kubelet waits in one go; whoever asked tells and asks again.
const WAIT_MS = 123_000

/** The volumes of one pod: those that it should have and those that are there. */
export class VolumeTable {
  readonly #deps: VolumeTableDeps
  /** By path. */
  readonly #volumes = new Map<string, PodVolume>()
  /** By the name that the spec gives them. */
  readonly #byName = new Map<string, { readonly volume: PodVolume; readonly resolved: ResolvedVolume }>()
  #releasing: AbortScope | undefined

  constructor(deps: VolumeTableDeps) {
    this.#deps = deps
  }

  get volumes(): readonly PodVolume[] {
    return [...this.#volumes.values()]
  }

  find(name: string): PodVolume | undefined {
    return this.#byName.get(name)?.volume
  }

  /** Takes in a volume that lies on the disk: perhaps it is mounted, perhaps somebody uses it. */
  adopt(plugin: string, place: VolumePlace): void {
    this.#volumes.set(place.path, this.#deps.createVolume(plugin, place, true))
  }

  /** Something that volumes of the pod show has changed, or can be had now. */
  hurry(): void {
    for (const { volume, resolved } of this.#byName.values()) if (resolved.refreshed) volume.hurry()
  }

  /** Resolves when all are there. One that cannot be found out fails at once, and the others are brought meanwhile. */
  async ensure(
    request: { readonly pod: Pod; readonly used: readonly UsedVolume[]; readonly noteStep: NoteStep },
    signal: AbortSignal,
  ): Promise<void> {
    this.#releasing?.abort(new Error('The pod is wanted again'))
    const { pod, used, noteStep } = request
    const missing = used.filter((one) => !this.#keepFresh(pod, one))
    if (missing.length === 0) return
    const failures = new Map<string, string>()
    try {
      const wait = { clock: this.#deps.clock, ms: WAIT_MS, what: 'bringing volumes' }
      await withDeadline(wait, (s) => this.#bringAll({ pod, missing, noteStep, failures }, s), signal)
    } catch (error) {
      signal.throwIfAborted()
      if (failures.size === 0 && !(error instanceof DeadlineError)) throw error
      const unmounted = missing.map(({ volume }) => volume.name).filter((name) => this.find(name)?.ready === undefined)
      // Between the last look and the end of the time everything may have come.
      if (unmounted.length > 0) throw computeVolumesFailure({ unmounted, failures }, error)
    }
  }

  /** Resolves when nothing of the pod's volumes is left, neither here nor on the disk. */
  async release(noteStep: NoteStep, signal: AbortSignal): Promise<void> {
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

  /** Is it there? Then it is brought up to date, where its kind can change. */
  #keepFresh(pod: Pod, { volume: { name } }: UsedVolume): boolean {
    const known = this.#byName.get(name)
    if (known?.volume.ready === undefined) return false
    if (known.resolved.refreshed) known.volume.refresh({ ...known.resolved.wish, pod })
    return true
  }

  async #bringAll(
    request: {
      readonly pod: Pod
      readonly missing: readonly UsedVolume[]
      readonly noteStep: NoteStep
      readonly failures: Map<string, string>
    },
    signal: AbortSignal,
  ): Promise<void> {
    const { pod, missing, noteStep, failures } = request
    const coming: Promise<void>[] = []
    await Promise.all(
      missing.map(async (used) => {
        try {
          const resolved = await this.#deps.resolve(pod, used, signal)
          const bringing = this.#take(used, resolved).bring(resolved.wish, noteStep, signal)
          // Heard below, unless another volume failed before.
          bringing.catch(() => {})
          coming.push(bringing)
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
    const { plugin, wish } = resolved
    const volume = this.#volumes.get(wish.path) ?? this.#deps.createVolume(plugin, wish, false)
    this.#volumes.set(wish.path, volume)
    this.#byName.set(name, { volume, resolved })
    return volume
  }

  async #takeDownAll(noteStep: NoteStep, signal: AbortSignal): Promise<void> {
    await Promise.all(this.volumes.map((volume) => volume.takeDown(noteStep, signal)))
    await this.#deps.removeRest(signal)
    signal.throwIfAborted()
  }
}
