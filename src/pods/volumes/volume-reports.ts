import type { Clock } from '../../base/async/clock.ts'
import { EventRepeats } from '../../model/events/event-repeats.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { VolumeMetrics } from '../../metrics/volume-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { PodVolume, PodVolumeDeps } from './pod-volume.ts'
import type { VolumeKind } from './volume-kind.ts'
import { FileSystemMismatchError } from './mounts/mount-block-device.ts'
import { VolumeStepError } from './volume-step-error.ts'
import { errorMessage, errorText } from '../../base/telemetry/error-text.ts'

export interface VolumeReportsDeps {
  readonly kinds: readonly VolumeKind[]
  readonly events: PodEvents
  readonly metrics: Pick<VolumeMetrics, 'storageOperation' | 'foreignVolumeCleaned'>
  readonly clock: Clock
  readonly log: Logger
}

const OPERATIONS = {
  files: { mount: 'volume_mount', unmount: 'volume_unmount' },
  device: { mount: 'map_volume', unmount: 'unmap_volume' },
} as const

/** Records events and metrics about volumes; the same trouble now and then, however often it is tried. */
export class VolumeReports {
  readonly #deps: VolumeReportsDeps
  readonly #plugins: ReadonlySet<string>
  /** The last trouble that was reported about a volume or about the volumes of a pod. */
  readonly #reported = new EventRepeats<object>(new WeakMap())

  constructor(deps: VolumeReportsDeps) {
    this.#deps = deps
    this.#plugins = new Set(deps.kinds.map(({ plugin }) => plugin))
  }

  readonly done: PodVolumeDeps['onDone'] = (volume, { operation, ms, error }) => {
    const use = isDevice(volume) ? 'device' : 'files'
    const plugin = this.#plugins.has(volume.plugin) ? volume.plugin : 'other'
    this.#deps.metrics.storageOperation({
      plugin,
      operation: OPERATIONS[use][operation],
      seconds: ms / 1000,
      failed: error !== undefined,
      isMigrated: isMigrated(volume),
    })
    if (plugin === 'other') this.#deps.metrics.foreignVolumeCleaned(error !== undefined)
    if (error === undefined) this.#reported.forget(volume)
    if (operation === 'unmount') this.#unmountDone(volume, error)
    else this.#mountDone(volume, error)
  }

  /** Not even a try could be made. */
  failed(table: object, pod: Pod, error: Error): void {
    const message = `Unable to attach or mount volumes: ${error.message}`
    if (this.#isDue(table, message)) this.#deps.events.record(pod, { type: 'Warning', reason: 'FailedMount', message })
  }

  allThere(table: object): void {
    this.#reported.forget(table)
  }

  #mountDone(volume: PodVolume, error: unknown): void {
    const pod = volume.desired?.pod
    if (pod === undefined || error === undefined) return
    const { events } = this.#deps
    const { specName } = volume.place
    const isBlock = isDevice(volume)
    const own = error instanceof VolumeStepError ? error : undefined
    const step = own?.step ?? (isBlock ? 'MapVolume.MapPodDevice failed' : 'MountVolume.SetUp failed')
    const message = `${step} for volume "${specName}" : ${errorMessage(error)}`
    const reason = own?.reason ?? (isBlock ? 'FailedMapVolume' : 'FailedMount')
    if (!this.#isDue(volume, message)) return
    events.record(pod, { type: 'Warning', reason, message })
    this.#reportMismatch(volume, pod, error)
  }

  /** Who looks after the disks has to know of it, not only the users of the pod. */
  #reportMismatch({ place: { specName }, desired }: PodVolume, pod: Pod, error: unknown): void {
    if (desired?.source.kind !== 'persistent' || !isMismatch(error)) return
    const { name = '', uid = '', resourceVersion = '' } = desired.source.volume.metadata ?? {}
    const message = `MountVolume failed for volume "${specName}" ${errorMessage(error)}`
    this.#deps.events.record(pod, {
      type: 'Warning',
      reason: 'FailedMountOnFilesystemMismatch',
      message,
      about: { kind: 'PersistentVolume', apiVersion: 'v1', name, uid, resourceVersion },
    })
  }

  #unmountDone(volume: PodVolume, error: unknown): void {
    if (error === undefined || !this.#isDue(volume, errorText(error))) return
    const { uid, path } = volume.place
    this.#deps.log.warn('cannot unmount a volume, will try again', { uid, path, error })
  }

  #isDue(about: object, text: string): boolean {
    return this.#reported.isDue(about, text, this.#deps.clock.monotonic())
  }
}

function isDevice({ place: { uid, path } }: PodVolume): boolean {
  return path.includes(`/${uid}/volumeDevices/`)
}

function isMismatch(error: unknown): boolean {
  return error instanceof FileSystemMismatchError || (error instanceof Error && isMismatch(error.cause))
}

function isMigrated({ desired }: PodVolume): boolean {
  return desired?.source.kind === 'persistent' && desired.source.isMigrated === true
}
