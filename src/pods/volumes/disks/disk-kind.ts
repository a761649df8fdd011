import type { TaskGroup } from '../../../base/async/task-group.ts'
import type { DeviceFiles } from '../../../system/directories/device-files.ts'
import type { DiskFiles } from '../../../system/directories/disk-files.ts'
import type { BlockDevices } from '../../../system/mounts/block-devices.ts'
import { mountsAt } from '../../../system/mounts/mounts-at.ts'
import type { Mounter } from '../../../system/mounts/mounter.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { joinMountOptions, mountOptionsOf } from '../persistent-volumes/mount-options.ts'
import { volumeGroupsOf } from '../persistent-volumes/volume-groups.ts'
import { isDevice } from '../csi/find-csi-volumes.ts'
import type { NodeAttachments } from '../csi/csi-volume-deps.ts'
import type { DesiredVolume, ReadyVolume, VolumePlace } from '../desired-volume.ts'
import { bindFiles } from '../mounts/bind-files.ts'
import type { BindFilesDeps } from '../mounts/bind-files.ts'
import { freeDevice, mapDevice } from '../mounts/map-device.ts'
import { mountBlockDevice } from '../mounts/mount-block-device.ts'
import { selinuxMountOptions } from '../selinux/compute-selinux-label.ts'
import { StagedVolumes } from '../stage/staged-volumes.ts'
import type { StagedVolume } from '../stage/staged-volumes.ts'
import type { SelinuxIdentity, SetUpRequest, TearDownRequest, VolumeKind } from '../volume-kind.ts'
import { VolumeStepError } from '../volume-step-error.ts'
import type { Disk, DiskProtocol } from './disk-protocol.ts'
import { findDeviceFolder, findDiskUsers, findMountLabel } from './find-disk-users.ts'

export interface DiskKindDeps extends BindFilesDeps {
  readonly mounter: Mounter
  readonly devices: BlockDevices
  readonly deviceFiles: DeviceFiles
  readonly diskFiles: DiskFiles
  readonly attachments: NodeAttachments
  /** A controller of the cluster decides which node may have a disk. */
  readonly controllerAttaches: boolean
  /** The node has another list of volumes that are in use. */
  readonly onInUse: (names: readonly string[] | undefined) => void
  readonly group: TaskGroup
}

interface DiskVolume extends StagedVolume {
  readonly use: 'files' | 'device'
  readonly folder: string
}

// The cluster reports what changes; this is for what it does not report.
const CHECK_MS = 10_000

/**
 * Disks that come over a network: iSCSI and Fibre Channel. The node has a disk once, for all pods: mounted, or as a device. Nothing on a disk is ever
 * removed, and it is formatted only where certainly nothing is.
 */
export class DiskKind<D extends Disk> implements VolumeKind {
  readonly plugin: string
  readonly refreshed = false
  readonly measure = 'fileSystem'
  readonly #deps: DiskKindDeps
  readonly #protocol: DiskProtocol<D>
  readonly #staged: StagedVolumes<DiskVolume>
  /** Devices of disks that are used as such, by their place on the node. */
  readonly #devices = new Map<string, string>()
  /** Paths of volumes that wait for a controller. */
  readonly #unattached = new Set<string>()

  constructor(deps: DiskKindDeps, protocol: DiskProtocol<D>) {
    this.plugin = protocol.plugin
    this.#deps = deps
    this.#protocol = protocol
    this.#staged = new StagedVolumes({
      ...deps,
      unstage: (volume, signal) => this.#unstage(volume, signal),
      onChange: () => deps.onInUse(this.inUse()),
    })
  }

  async setUp(request: SetUpRequest, signal: AbortSignal): Promise<ReadyVolume> {
    const disk = this.#protocol.describe(request)
    const volume = this.#toVolume(disk, request)
    const { controllerAttaches: attachable } = this.#deps
    this.#staged.enter(volume, request.uid, { attachable })
    if (attachable && request.ready === undefined) await this.#waitUntilAttached(request, volume, signal)
    await this.#staged.stage(volume, () => this.#stage({ request, disk, volume }, signal), signal)
    return volume.use === 'device'
      ? await this.#giveDevice(request, volume, signal)
      : await this.#giveFiles(request, volume, signal)
  }

  async tearDown(request: TearDownRequest, signal: AbortSignal): Promise<void> {
    const { uid, specName, path } = request
    const { mounter, volumeFiles, deviceFiles } = this.#deps
    let staging = this.#staged.stagingOf(uid, specName)
    if (isDevice(request)) {
      staging ??= findDeviceFolder(await mounter.table(), {
        root: this.#deps.diskFiles.staging(this.plugin, 'device', ''),
        uid,
        device: await this.#deps.diskFiles.readLink(path),
      })
      if (staging !== undefined) await freeDevice(this.#deps, request, staging, signal)
      await deviceFiles.removeLink(path)
    } else {
      await mounter.unmount(path, { force: false }, signal)
      await volumeFiles.removeDirectory(path)
    }
    if (staging !== undefined) this.#staged.leave(staging, uid)
  }

  async adopt(places: readonly VolumePlace[], signal: AbortSignal): Promise<void> {
    const { mounter, diskFiles, controllerAttaches } = this.#deps
    const [found, table] = [await diskFiles.list(this.plugin, this.#protocol.depth), await mounter.table()]
    const links = new Map<string, string | undefined>()
    for (const { path } of places) links.set(path, await diskFiles.readLink(path))
    const staged = found.flatMap(({ use, folder, staging }) => {
      const name = this.#protocol.nameOf(folder)
      if (name === undefined) return []
      const users = findDiskUsers(table, { staging, use }, places, links)
      const volume = {
        name: `${this.plugin}/${name}`,
        specName: users[0]?.specName ?? '',
        staging,
        selinuxLabel: findMountLabel(table, staging),
        use,
        folder,
      }
      return [{ volume, users }]
    })
    this.#staged.adopt(
      staged.map(({ volume }) => volume),
      staged.flatMap(({ volume, users }) => users.map(({ uid }) => ({ uid, volume }))),
    )
    this.#staged.noteAttachable(() => true, controllerAttaches)
    signal.throwIfAborted()
  }

  isUnattached({ path }: VolumePlace): boolean {
    return this.#unattached.has(path)
  }

  async selinux(desired: DesiredVolume): Promise<SelinuxIdentity> {
    const { name } = this.#protocol.describe(desired)
    return { name: `${this.plugin}/${name}`, plugin: this.plugin, canLabel: true }
  }

  /** The names of volumes that must not be given to another node; undefined while they are not known. */
  inUse(): readonly string[] | undefined {
    return this.#staged.inUse()
  }

  /** The pods are known: what none of them uses is taken from the node. */
  releaseUnused(): void {
    this.#staged.releaseUnused()
  }

  #toVolume({ name, folder }: Disk, { source, specName, selinux }: DesiredVolume): DiskVolume {
    const isBlock = source.kind === 'persistent' && source.volume.spec?.volumeMode === 'Block'
    const use = isBlock ? 'device' : 'files'
    return {
      name: `${this.plugin}/${name}`,
      specName,
      staging: this.#deps.diskFiles.staging(this.plugin, use, folder),
      selinuxLabel: use === 'files' ? (selinux?.mountLabel ?? '') : '',
      use,
      folder,
    }
  }

  /** The cluster knows that the disk is in use here, and lets this node have it. */
  async #waitUntilAttached(
    { path, name: volumeName, noteStep }: SetUpRequest,
    { name }: DiskVolume,
    signal: AbortSignal,
  ): Promise<void> {
    const { attachments } = this.#deps
    try {
      for (;;) {
        const isInUse = attachments.isInUse(name)
        if (isInUse && attachments.isAttached(name)) return
        this.#unattached.add(path)
        const missing = isInUse
          ? 'to be attached to this node by the cluster'
          : 'to be reported as in use in the status of this node'
        const wait = () => attachments.changed(CHECK_MS, signal)
        await (noteStep?.(`wait for volume "${volumeName}" ${missing}`, wait) ?? wait())
      }
    } finally {
      this.#unattached.delete(path)
    }
  }

  async #stage(
    { request, disk, volume }: { readonly request: SetUpRequest; readonly disk: D; readonly volume: DiskVolume },
    signal: AbortSignal,
  ): Promise<'staged'> {
    const { mounter } = this.#deps
    const { staging, use } = volume
    if (use === 'files' && (await mountsAt(mounter, staging)).length > 0) return 'staged'
    const attach = () => this.#protocol.attach(disk, { request, staging }, signal)
    const step = `attach the disk of volume "${request.name}" (${this.plugin})`
    const device = await this.#withVolumeStepErrors(
      volume,
      'WaitForAttach',
      () => request.noteStep?.(step, attach) ?? attach(),
      signal,
    )
    if (use === 'device') this.#devices.set(staging, device)
    else
      await this.#withVolumeStepErrors(
        volume,
        'MountDevice',
        () => this.#mount({ request, disk, volume, device }, signal),
        signal,
      )
    return 'staged'
  }

  async #mount(
    wanted: { readonly request: SetUpRequest; readonly disk: D; readonly volume: DiskVolume; readonly device: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { request, disk, volume, device } = wanted
    const { source, readOnly } = request
    const own = source.kind === 'persistent' ? mountOptionsOf(source.volume) : []
    const options = joinMountOptions(own, readOnly ? ['ro'] : [], selinuxMountOptions(volume.selinuxLabel))
    const target = volume.staging
    await mountBlockDevice(this.#deps, { device, target, fsType: disk.fsType, options, readOnly }, signal)
  }

  /** Once the disk may be here it is taken from the node with its last pod, whatever failed. */
  async #withVolumeStepErrors<T>(
    { use }: DiskVolume,
    name: string,
    work: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted) throw error
      const step = `${use === 'device' ? 'MapVolume' : 'MountVolume'}.${name} failed`
      throw new VolumeStepError(errorMessage(error), { step, outcome: 'uncertain', cause: error })
    }
  }

  async #giveFiles(request: SetUpRequest, { staging, selinuxLabel }: DiskVolume, signal: AbortSignal) {
    const { readOnly, path, source } = request
    const [mounted] = await mountsAt(this.#deps.mounter, staging)
    if (!readOnly && mounted?.superOptions.includes('ro') === true)
      throw new Error(`Cannot use volume "${request.name}" for writing: another pod has its disk mounted read-only`)
    const options = readOnly ? ['ro'] : []
    await bindFiles(this.#deps, { desired: request, source: staging, options, changesGroupInUse: true }, signal)
    const selinuxRelabel = selinuxLabel === '' && !readOnly
    return { kind: 'files', hostPath: path, readOnly, selinuxRelabel, groups: volumeGroupsOf(source) } as const
  }

  async #giveDevice(request: SetUpRequest, { staging }: DiskVolume, signal: AbortSignal) {
    const device = this.#devices.get(staging)
    if (device === undefined) throw new Error(`Cannot find the device of volume "${request.name}" any more`)
    await mapDevice(this.#deps, { desired: request, device, directory: staging }, signal)
    return { kind: 'device', hostPath: device, permissions: request.readOnly ? 'r' : 'mrw' } as const
  }

  /** The kernel has the last word on who uses a disk. */
  async #unstage({ staging, folder }: DiskVolume, signal: AbortSignal): Promise<void> {
    const { mounter, diskFiles, rootDirectory } = this.#deps
    const table = await mounter.table()
    const [mounted] = await mountsAt(mounter, staging)
    const user =
      table.find(({ point }) => point.startsWith(`${staging}/`)) ??
      (mounted &&
        table.find(({ device, point }) => device === mounted.device && point.startsWith(`${rootDirectory}/pods/`)))
    if (user !== undefined)
      throw new Error(`Cannot take "${staging}" from the node: it is still mounted at "${user.point}"`)
    await mounter.unmount(staging, { force: false }, signal)
    const others = (await diskFiles.list(this.plugin, this.#protocol.depth)).filter((one) => one.staging !== staging)
    await this.#protocol.detach(
      { folder, staging },
      others.map((one) => one.folder),
      signal,
    )
    await diskFiles.removeDirectory(staging)
    this.#devices.delete(staging)
  }
}
