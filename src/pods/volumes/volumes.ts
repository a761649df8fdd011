import type { Clock } from '../../base/async/clock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { computePodPaths } from '../containers/pod-paths.ts'
import type { GuardedFiles } from '../../system/guarded/guarded-files.ts'
import { mountPointsBelow } from '../../system/mounts/mount-table.ts'
import type { Mounter } from '../../system/mounts/mounter.ts'
import { isPodUid } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { VolumeMetrics } from '../../metrics/volume-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import { bindVolumePart } from './mounts/bind-volume-part.ts'
import { computeContainerDevices, computeContainerMounts } from './mounts/compute-container-mounts.ts'
import { computeUsedVolumes, computeDesiredVolume } from './compute-desired-volumes.ts'
import type { UsedVolume } from './compute-desired-volumes.ts'
import { computeVolumePlugin } from './compute-volume-plugin.ts'
import { isLocalEphemeral } from './usage/is-local-ephemeral.ts'
import type { MountedVolume } from './mounted-volume.ts'
import { PodVolume } from './pod-volume.ts'
import type { NoteStep } from '../../base/telemetry/note-step.ts'
import { removeVolumeRest, takeDownVolume } from './take-down-volume.ts'
import type { VolumeFolders } from './take-down-volume.ts'
import type { SetUpRequest, TearDownRequest, VolumeKind } from './volume-kind.ts'
import type { SelinuxMounts, SelinuxUser } from './selinux/selinux-mounts.ts'
import { unescapeName } from './mounts/volume-paths.ts'
import { VolumeReports } from './volume-reports.ts'
import { VolumeTable } from './volume-table.ts'
import type { ResolvedVolume } from './volume-table.ts'
import type { DesiredVolume, SelinuxChoice, VolumePlace, VolumeSource } from './desired-volume.ts'
import type { ContainerVolumes, ContainerVolumesRequest } from '../containers/container-volumes.ts'

export interface VolumesDeps {
  /** Without links, as the kernel's mount table has it. */
  readonly rootDirectory: string
  readonly kinds: readonly VolumeKind[]
  /** What a volume of a pod is: itself, or the persistent volume that its claim is bound to. */
  readonly findSource: (pod: Pod, used: UsedVolume, signal: AbortSignal) => Promise<VolumeSource>
  /** Why there is no kind for a source. */
  readonly refusal: (source: VolumeSource) => string
  readonly selinuxEnabled: boolean
  readonly selinux: SelinuxMounts
  readonly mounter: Pick<Mounter, 'table' | 'unmount'>
  readonly guarded: Pick<GuardedFiles, 'makeSubPath' | 'bindSubPath' | 'releaseSubPaths'>
  readonly folders: VolumeFolders
  readonly events: PodEvents
  readonly metrics: Pick<VolumeMetrics, 'storageOperation' | 'volumeFound' | 'foreignVolumeCleaned'>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * The volumes of all pods of this node. Each pod has a table of its own, and everything is done at the request of its worker; only who
 * uses a persistent volume alone is a matter of the whole node. What is under way belongs to the group, not to the caller that waits for it.
 */
export class Volumes {
  readonly #deps: VolumesDeps
  readonly #group: TaskGroup
  readonly #kinds: ReadonlyMap<string, VolumeKind>
  readonly #reports: VolumeReports
  readonly #tables = new Map<PodUid, VolumeTable>()

  constructor(deps: VolumesDeps, group: TaskGroup) {
    this.#deps = deps
    this.#group = group
    this.#kinds = new Map(deps.kinds.map((kind) => [kind.plugin, kind]))
    this.#reports = new VolumeReports(deps)
  }

  /** Takes in what an earlier agent left mounted or lying on the disk. Before anything else here is called. */
  async adopt(): Promise<void> {
    const { folders, mounter, rootDirectory } = this.#deps
    const [found, uids, mounts] = await Promise.all([folders.listVolumes(), folders.listPods(), mounter.table()])
    const pods = `${rootDirectory}/pods`
    const points = mountPointsBelow(mounts, pods).filter((point) => point !== pods)
    for (const { uid, pluginDirectory, specName, path } of found) {
      if (!isPodUid(uid)) continue
      // Nothing of ours is mounted above a volume: what looks like one behind such a mount is not ours.
      if (points.some((point) => path.startsWith(`${point}/`))) continue
      const plugin = unescapeName(pluginDirectory)
      this.#table(uid).adopt(plugin, { uid, specName, path })
      this.#deps.metrics.volumeFound(this.#kinds.has(plugin))
    }
    // An agent that died after the last volume of a pod was gone has left the folders around it.
    for (const uid of uids) if (isPodUid(uid)) this.#table(uid)
    await this.#adoptKinds()
    // What is mounted without a volume directory is remembered by the table of its pod alone.
    for (const point of points) {
      const [uid = ''] = point.slice(pods.length + 1).split('/')
      if (isPodUid(uid)) this.#table(uid)
    }
  }

  /** Resolves as soon as all volumes that containers of the pod use are there; fails with a VolumesError. */
  async ensure(
    { pod, noteStep }: { readonly pod: Pod; readonly noteStep: NoteStep },
    signal: AbortSignal,
  ): Promise<void> {
    const used = computeUsedVolumes(pod)
    if (used.length > 0) await this.#table(pod.metadata.uid).ensure({ pod, used, noteStep }, signal)
  }

  /** Mounts what is missing and updates what may have changed, in the background. */
  keep({ pod, noteStep }: { readonly pod: Pod; readonly noteStep: NoteStep }): void {
    const used = computeUsedVolumes(pod)
    if (used.length > 0) this.#table(pod.metadata.uid).keep({ pod, used, noteStep })
  }

  /** Something that volumes of the pod show has changed, or is there now: the next pass over the pod ensures it. */
  contentChanged(uid: PodUid): void {
    this.#tables.get(uid)?.contentChanged()
  }

  /** What volumes of a kind waited for may be there: none of them has to wait longer, be it to be mounted or unmounted. */
  retry(plugin: string): void {
    for (const { volumes } of this.#tables.values())
      for (const volume of volumes) if (volume.plugin === plugin) volume.retry()
  }

  /** The API answers: what could not be read from it need not wait longer. Called often. */
  apiAnswers(): void {
    for (const { volumes } of this.#tables.values()) for (const volume of volumes) volume.apiAnswers()
  }

  /** What a container gets of the volumes; fails with a ContainerConfigError. */
  async containerVolumes(
    request: ContainerVolumesRequest & { readonly noteStep: NoteStep },
    signal: AbortSignal,
  ): Promise<ContainerVolumes> {
    const { pod, container, noteStep } = request
    const { uid } = pod.metadata
    const input = {
      ...request,
      podDirectory: computePodPaths(this.#deps.rootDirectory, uid).directory,
      find: (name: string) => {
        const volume = this.#tables.get(uid)?.find(name)
        return volume?.ready === undefined ? undefined : { specName: volume.place.specName, ready: volume.ready }
      },
      selinuxEnabled: this.#deps.selinuxEnabled,
    }
    const planned = computeContainerMounts(input)
    const devices = computeContainerDevices(input)
    for (const { part } of planned) {
      if (part !== undefined) await bindVolumePart(this.#deps, { pod, container, part, noteStep }, signal)
    }
    return { mounts: planned.map(({ mount }) => mount), devices }
  }

  /** True while anything of volumes of the pod may be on this node. */
  has(uid: PodUid): boolean {
    return this.#tables.has(uid)
  }

  /** Groups that the processes of a pod need for its volumes. */
  groups(uid: PodUid): readonly number[] {
    return this.#volumesOf(uid).flatMap(({ ready }) => (ready?.kind === 'files' ? ready.groups : []))
  }

  /** Resolves when nothing of the pod's volumes is left. Only for a pod of which nothing runs any more; fails with a VolumesError. */
  async release(
    { uid, noteStep }: { readonly uid: PodUid; readonly noteStep: NoteStep },
    signal: AbortSignal,
  ): Promise<void> {
    const table = this.#tables.get(uid)
    if (table === undefined) return
    await table.release(noteStep, signal)
    if (table.volumes.length === 0) this.#tables.delete(uid)
  }

  /** Where the files of a volume are, by its name in the pod; undefined while it is not there. */
  pathOf(uid: PodUid, name: string): string | undefined {
    const ready = this.#tables.get(uid)?.find(name)?.ready
    return ready?.kind === 'files' ? ready.hostPath : undefined
  }

  /** The volumes of a pod that are there, by their names in the pod, and where on this machine. */
  placesOf(uid: PodUid): readonly { readonly name: string; readonly path: string }[] {
    return this.#volumesOf(uid).flatMap(({ ready, desired }) =>
      ready === undefined || desired === undefined ? [] : [{ name: desired.name, path: ready.hostPath }],
    )
  }

  /** Every volume that is there. */
  mounted(): readonly MountedVolume[] {
    return [...this.#tables.values()].flatMap(({ volumes }) =>
      volumes.flatMap(({ plugin, ready, desired }) => {
        if (ready === undefined || desired === undefined) return []
        const driver = this.#kinds.get(plugin)?.driverOf?.(desired)
        // Only its driver can say anything of a device.
        if (ready.kind !== 'files' && driver === undefined) return []
        const { uid, name, source, pod } = desired
        const { namespace, name: podName } = pod.metadata
        return [
          {
            uid,
            pod: { namespace, name: podName },
            name,
            path: ready.hostPath,
            measure: this.#kinds.get(plugin)?.measureOf?.(desired) ?? this.#kinds.get(plugin)?.measure,
            isLocalEphemeral: isLocalEphemeral(source),
            ...(driver && { driver }),
            pvcRef: source.kind === 'persistent' ? source.claim : undefined,
          },
        ]
      }),
    )
  }

  /** How many volumes there should be and how many there are, by plugin. */
  counts(): readonly { readonly plugin: string; readonly desired: number; readonly actual: number }[] {
    const volumes = [...this.#tables.values()].flatMap((table) => table.volumes)
    const labels = new Set(volumes.map(({ plugin }) => this.#label(plugin)))
    return [...labels].map((label) => {
      const mine = volumes.filter(({ plugin }) => this.#label(plugin) === label)
      return {
        plugin: label,
        desired: mine.filter(({ desired }) => desired !== undefined).length,
        actual: mine.filter(({ mayBeThere }) => mayBeThere).length,
      }
    })
  }

  #table(uid: PodUid): VolumeTable {
    return this.#tables.getOrInsertComputed(
      uid,
      () =>
        new VolumeTable({
          clock: this.#deps.clock,
          group: this.#group,
          reports: this.#reports,
          log: this.#deps.log,
          resolve: (pod, used, signal) => this.#resolve(pod, used, signal),
          createVolume: (plugin, place, found) => this.#createVolume(plugin, place, found),
          isUnattached: ({ plugin, place }) => this.#kinds.get(plugin)?.isUnattached?.(place) === true,
          removeRest: (signal) => removeVolumeRest(this.#deps, uid, signal),
        }),
    )
  }

  /** Some kinds have more on the disk than the volumes of pods. */
  async #adoptKinds(): Promise<void> {
    const found = [...this.#tables.values()].flatMap(({ volumes }) => volumes)
    for (const kind of this.#kinds.values()) {
      const places = found.filter(({ plugin }) => plugin === kind.plugin).map(({ place }) => place)
      await kind.adopt?.(places, this.#group.signal)
    }
  }

  #volumesOf(uid: PodUid): readonly PodVolume[] {
    return this.#tables.get(uid)?.volumes ?? []
  }

  async #resolve(pod: Pod, used: UsedVolume, signal: AbortSignal): Promise<ResolvedVolume> {
    const source = await this.#deps.findSource(pod, used, signal)
    const plugin = computeVolumePlugin(source)
    const kind = plugin === undefined ? undefined : this.#kinds.get(plugin)
    if (plugin === undefined || kind === undefined) throw new Error(this.#deps.refusal(source))
    const { rootDirectory } = this.#deps
    const desired = computeDesiredVolume({ pod, used, plugin, source, rootDirectory })
    const selinux = await this.#chooseLabel(plugin, desired, signal)
    return { plugin, refreshed: kind.refreshed, desired: selinux === undefined ? desired : { ...desired, selinux } }
  }

  /** What the volume is mounted with for SELinux; fails where another pod has it with another label. */
  async #chooseLabel(plugin: string, desired: DesiredVolume, signal: AbortSignal): Promise<SelinuxChoice | undefined> {
    const { selinux } = this.#deps
    if (!selinux.isOn) return undefined
    const identity = await this.#kinds.get(plugin)?.selinux?.(desired, signal)
    const { uid, name } = desired
    const before = this.#tables.get(uid)?.find(name)?.desired?.selinux
    return selinux.choose({ desired, plugin, identity, before, users: (volume) => this.#selinuxUsers(volume, uid) })
  }

  #selinuxUsers(name: string, except: PodUid): readonly SelinuxUser[] {
    return [...this.#tables].flatMap(([uid, table]) =>
      table.volumes.flatMap(({ desired, isAbsent }) => {
        const choice = desired?.selinux
        if (uid === except || choice?.name !== name || isAbsent) return []
        return [{ choice, isLeaving: table.isReleasing }]
      }),
    )
  }

  #createVolume(plugin: string, place: VolumePlace, found: boolean): PodVolume {
    const kind = this.#kinds.get(plugin)
    const deps = {
      clock: this.#deps.clock,
      group: this.#group,
      setUp: async (request: SetUpRequest, signal: AbortSignal) => {
        if (kind === undefined) throw new Error(this.#deps.refusal(request.source))
        this.#checkSoleUse(plugin, request)
        return await kind.setUp(request, signal)
      },
      tearDown: (place: TearDownRequest, signal: AbortSignal) => takeDownVolume(this.#deps, { place, kind }, signal),
      onDone: this.#reports.done,
    }
    return new PodVolume(deps, { plugin, place, found })
  }

  /** A persistent volume for one pod only is not shared, whatever the scheduler thought. */
  #checkSoleUse(plugin: string, { uid, specName, source }: DesiredVolume): void {
    const modes = source.kind === 'persistent' ? (source.volume.spec?.accessModes ?? []) : []
    if (modes.length !== 1 || modes[0] !== 'ReadWriteOncePod') return
    const others = [...this.#tables].filter(([other]) => other !== uid).flatMap(([, { volumes }]) => volumes)
    const isTaken = others.some(
      (other) => other.mayBeThere && other.plugin === plugin && other.place.specName === specName,
    )
    if (isTaken) throw new Error('volume uses the ReadWriteOncePod access mode and is already in use by another pod')
  }

  /** Labels of metrics are a closed set, whatever lies on the disk. */
  #label(plugin: string): string {
    return this.#kinds.has(plugin) ? plugin : 'other'
  }
}
