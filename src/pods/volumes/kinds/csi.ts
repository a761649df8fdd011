import type { TaskGroup } from '../../../base/async/task-group.ts'
import type { CsiDriverTraits } from '../../../protocols/csi/csi-driver-objects.ts'
import type { CsiDrivers } from '../../../protocols/csi/csi-drivers.ts'
import { volumeGroupsOf } from '../persistent-volumes/volume-groups.ts'
import { askDriverUsage } from '../csi/ask-driver-usage.ts'
import type { CsiVolumeDeps } from '../csi/csi-volume-deps.ts'
import { CSI_PLUGIN, csiVolumeName } from '../csi/csi-names.ts'
import { mountPath } from '../csi/csi-paths.ts'
import type { CsiVolume } from '../csi/csi-volume.ts'
import { growOnDriver } from '../csi/grow-on-driver.ts'
import { expandVolume } from '../expand/expand-volume.ts'
import type { Growth } from '../expand/expand-volume.ts'
import { findCsiVolumes, isDevice, toNodeVolume } from '../csi/find-csi-volumes.ts'
import { mountAt } from '../csi/publish/mount-at.ts'
import { noteDevice, publishDevice, unpublishDevice } from '../csi/publish/publish-device.ts'
import { publishVolume } from '../csi/publish/publish-volume.ts'
import { stageVolume } from '../csi/stage/stage-volume.ts'
import type { NodeVolume } from '../csi/stage/node-volume.ts'
import { StagedVolumes } from '../stage/staged-volumes.ts'
import { toCsiVolume } from '../csi/to-csi-volume.ts'
import { unpublishVolume } from '../csi/publish/unpublish-volume.ts'
import { unstageVolume } from '../csi/stage/unstage-volume.ts'
import { waitForAttachment } from '../csi/stage/wait-for-attachment.ts'
import type { Attached } from '../csi/stage/wait-for-attachment.ts'
import type { VolumeDriver } from '../mounted-volume.ts'
import { readVolumeData } from '../csi/read-volume-data.ts'
import type { SelinuxIdentity, SetUpRequest, TearDownRequest, VolumeKind } from '../volume-kind.ts'
import { VolumeStepError } from '../volume-step-error.ts'
import type { ReadyVolume, VolumePlace, DesiredVolume } from '../desired-volume.ts'

export interface CsiKindDeps extends CsiVolumeDeps {
  /** The node has another list of volumes that are in use. */
  readonly onInUse: (names: readonly string[] | undefined) => void
  readonly group: TaskGroup
}

interface Wanted {
  readonly request: SetUpRequest
  readonly volume: CsiVolume
}

interface OnNode {
  /** Undefined for one that is the pod's own. */
  readonly node: NodeVolume | undefined
}

/** Volumes of CSI drivers: persistent ones, and those that are written down in the pod itself. Nothing that they hold is ever removed. */
export class CsiKind implements VolumeKind {
  readonly plugin = CSI_PLUGIN
  // A driver may want to publish again; the cluster may have made a volume larger.
  readonly refreshed = true
  readonly measure = 'driver'
  readonly #deps: CsiKindDeps
  readonly #staged: StagedVolumes<NodeVolume>
  /** Paths of volumes that wait for a controller to attach them. */
  readonly #unattached = new Set<string>()

  constructor(deps: CsiKindDeps) {
    this.#deps = deps
    this.#staged = new StagedVolumes({
      ...deps,
      unstage: (volume, signal) => unstageVolume(deps, volume, signal),
      onChange: () => deps.onInUse(this.inUse()),
    })
  }

  async setUp(request: SetUpRequest, signal: AbortSignal): Promise<ReadyVolume> {
    const volume = await this.#asMounted(request, toCsiVolume(request))
    const node = volume.lifecycle === 'Ephemeral' ? undefined : this.#toNode(volume)
    const ready =
      (await this.#keep({ request, volume }, signal)) ?? (await this.#ensure({ request, volume, node }, signal))
    if (node !== undefined) await this.#expand({ request, volume, node, ready }, signal)
    return ready
  }

  async tearDown(request: TearDownRequest, signal: AbortSignal): Promise<void> {
    const use = isDevice(request) ? 'device' : 'files'
    const data = await (use === 'device' ? unpublishDevice : unpublishVolume)(this.#deps, request, signal)
    const { uid, specName } = request
    const staging =
      data === undefined
        ? this.#staged.stagingOf(uid, specName)
        : toNodeVolume(this.#deps, data, { use, specName }).staging
    if (staging !== undefined) this.#staged.leave(staging, uid)
  }

  async adopt(places: readonly VolumePlace[], signal: AbortSignal): Promise<void> {
    const { staged, users } = await findCsiVolumes(this.#deps, places)
    this.#staged.adopt(staged, users)
    const drivers = new Set([...staged, ...users.map(({ volume }) => volume)].map(({ driver }) => driver))
    for (const driver of drivers) {
      this.#deps.group.runLoop(`traits of CSI driver ${driver}`, async (s) => {
        const { attachRequired } = await this.#deps.driverObjects.find(driver, s)
        this.#staged.noteAttachable((volume) => volume.driver === driver, attachRequired)
      })
    }
    signal.throwIfAborted()
  }

  isUnattached({ path }: VolumePlace): boolean {
    return this.#unattached.has(path)
  }

  async selinux(desired: DesiredVolume, signal: AbortSignal): Promise<SelinuxIdentity> {
    const { driver, handle } = toCsiVolume(desired)
    const { seLinuxMount: canLabel } = await this.#deps.driverObjects.find(driver, signal)
    return { name: csiVolumeName(driver, handle), plugin: `${CSI_PLUGIN}/${driver}`, canLabel }
  }

  driverOf(desired: DesiredVolume): VolumeDriver {
    const reportAbnormal = (text: string) => {
      const message = `Volume ${desired.name}: ${text}`
      this.#deps.events.record(desired.pod, { type: 'Warning', reason: 'VolumeConditionAbnormal', message })
    }
    const ask = (signal: AbortSignal) => askDriverUsage(this.#deps, desired, signal)
    return { name: toCsiVolume(desired).driver, ask, reportAbnormal }
  }

  /** The names of volumes that must not be detached from this node; undefined while they are not known. */
  inUse(): readonly string[] | undefined {
    return this.#staged.inUse()
  }

  /** A driver came or went. */
  retryNow(): void {
    this.#staged.retryNow()
  }

  /** The pods are known: what none of them uses is taken from the node. */
  releaseUnused(): void {
    this.#staged.releaseUnused()
  }

  /** What containers may use keeps the SELinux label that it was mounted with, whatever would be chosen now. */
  async #asMounted({ ready, isFound, path }: SetUpRequest, volume: CsiVolume): Promise<CsiVolume> {
    if (volume.use === 'device' || (ready === undefined && isFound !== true)) return volume
    const note = await readVolumeData(this.#deps, path)
    return note === undefined ? volume : { ...volume, selinuxLabel: note.seLinuxMountContext ?? '' }
  }

  /** What is there already, unless its driver wants to publish it again. */
  async #keep({ request, volume }: Wanted, signal: AbortSignal): Promise<ReadyVolume | undefined> {
    if (request.ready === undefined) return undefined
    const { requiresRepublish } = await this.#deps.driverObjects.find(volume.driver, signal)
    return requiresRepublish ? undefined : request.ready
  }

  async #ensure({ request, volume, node }: Wanted & OnNode, signal: AbortSignal): Promise<ReadyVolume> {
    const attached = await this.#attach({ request, volume, node }, signal)
    const wanted = { request, volume, attached }
    if (volume.use === 'device') await noteDevice(this.#deps, wanted)
    if (node !== undefined)
      await this.#staged.stage(node, (isFound) => stageVolume(this.#deps, { ...wanted, node, isFound }, signal), signal)
    if (volume.use === 'device') {
      const hostPath = await publishDevice(this.#deps, wanted, signal)
      return { kind: 'device', hostPath, permissions: volume.readOnly ? 'r' : 'mrw' }
    }
    await publishVolume(this.#deps, wanted, signal)
    return await this.#toReady(wanted)
  }

  async #attach({ request, volume, node }: Wanted & OnNode, signal: AbortSignal): Promise<Attached> {
    if (node === undefined) {
      const traits = await this.#deps.driverObjects.find(volume.driver, signal)
      checkLifecycle(volume, traits, this.#deps.drivers)
      return { traits, publishContext: {} }
    }
    const onTraits = (traits: CsiDriverTraits) => {
      checkLifecycle(volume, traits, this.#deps.drivers)
      this.#staged.enter(node, request.uid, { attachable: traits.attachRequired })
    }
    const onWaiting = (isWaiting: boolean) => {
      if (isWaiting) this.#unattached.add(request.path)
      else this.#unattached.delete(request.path)
    }
    return await waitForAttachment(this.#deps, { request, volume, onTraits, onWaiting }, signal)
  }

  async #toReady({ request, volume }: Wanted): Promise<ReadyVolume> {
    const hostPath = mountPath(request.path)
    const mount = await mountAt(this.#deps.mounter, hostPath)
    return {
      kind: 'files',
      hostPath,
      readOnly: volume.readOnly,
      selinuxRelabel:
        volume.selinuxLabel === '' && !volume.readOnly && mount?.superOptions.includes('seclabel') === true,
      groups: volumeGroupsOf(request.source),
    }
  }

  async #expand(
    { request, volume, node, ready }: Wanted & { readonly node: NodeVolume; readonly ready: ReadyVolume },
    signal: AbortSignal,
  ): Promise<void> {
    const sizing = this.#staged.sizing(node.staging)
    if (sizing === undefined) return
    const parts = { request, volume, sizing, volumePath: ready.hostPath, stagingPath: node.staging }
    const grow = (growth: Growth) => growOnDriver(this.#deps, { ...parts, ...growth }, signal)
    await expandVolume(this.#deps, { request, sizing, readOnly: volume.readOnly, grow }, signal)
  }

  #toNode({ driver: driverName, handle: volumeHandle, use, specName, selinuxLabel }: CsiVolume): NodeVolume {
    const noted = { driverName, volumeHandle, seLinuxMountContext: selinuxLabel }
    return toNodeVolume(this.#deps, noted, { use, specName })
  }
}

function checkLifecycle(
  { driver, lifecycle, use }: CsiVolume,
  { lifecycleModes }: CsiDriverTraits,
  drivers: CsiDrivers,
): void {
  if (lifecycleModes.includes(lifecycle)) return
  const modes = lifecycleModes.map((mode) => `"${mode}"`).join(' ')
  const isThere = drivers.find(driver) !== undefined
  const message = `volume mode "${lifecycle}" not supported by driver ${driver} (only supports [${modes}])${isThere ? '' : ', and no such driver is registered'}`
  const step = use === 'device' ? 'MapVolume.MapPodDevice failed' : 'MountVolume.SetUp failed'
  throw new VolumeStepError(message, { step, outcome: 'untried' })
}
