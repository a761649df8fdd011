import { KeyedLock } from '../../../base/async/keyed-lock.ts'
import { LOCAL_PROVISIONER, PROVISIONED_BY } from '../../../model/storage/storage-classes.ts'
import { mountOptionsOf } from '../persistent-volumes/mount-options.ts'
import { volumeGroupsOf } from '../persistent-volumes/volume-groups.ts'
import type { Sizing } from '../expand/expand-volume.ts'
import { bindLocalFiles } from '../local/bind-local-files.ts'
import { expandLocalVolume } from '../local/expand-local-volume.ts'
import { LOCAL_PLUGIN } from '../local/local-volume-deps.ts'
import type { LocalVolume, LocalVolumeDeps } from '../local/local-volume-deps.ts'
import { unmountDevice } from '../local/mount-device.ts'
import { freeDevice, mapDevice } from '../mounts/map-device.ts'
import type { VolumeKind } from '../volume-kind.ts'
import type { ReadyVolume, VolumePlace, DesiredVolume } from '../desired-volume.ts'

/**
 * Disks and directories of the node as persistent volumes. What they hold is never removed: taking one away is unmounting and removing
 * empty directories.
 */
export function createLocalKind(deps: LocalVolumeDeps): VolumeKind {
  // A device that one pod leaves must not be unmounted while another comes.
  const lock = new KeyedLock()
  const sizings = new Map<string, Sizing>()
  return {
    plugin: LOCAL_PLUGIN,
    // The cluster may have made a volume larger.
    refreshed: true,
    measure: 'fileSystem',
    // Such a folder shares its file system with all others, so that says nothing about the volume.
    measureOf: ({ source }) => (isProvisionedFolder(source) ? 'walk' : 'fileSystem'),
    setUp: (request, signal) =>
      lock.hold(
        request.specName,
        async () => {
          const ready = request.ready ?? (await setUp(deps, request, signal))
          if (isProvisionedFolder(request.source)) return ready
          const sizing = sizings.getOrInsertComputed(request.specName, () => ({
            size: undefined,
            expandsUnusedOnly: false,
          }))
          await expandLocalVolume(deps, { request, sizing, inspect: () => inspect(deps, request, signal) }, signal)
          return ready
        },
        signal,
      ),
    tearDown: (place, signal) =>
      lock.hold(
        place.specName,
        async () => {
          // Another pod that uses it has it read again.
          sizings.delete(place.specName)
          await tearDown(deps, place, signal)
        },
        signal,
      ),
  }
}

function isProvisionedFolder(source: DesiredVolume['source']): boolean {
  const annotations = source.kind === 'persistent' ? source.volume.metadata?.annotations : undefined
  return annotations?.[PROVISIONED_BY] === LOCAL_PROVISIONER
}

async function setUp(deps: LocalVolumeDeps, desired: DesiredVolume, signal: AbortSignal): Promise<ReadyVolume> {
  const { source, readOnly } = desired
  const volume = await inspect(deps, desired, signal)
  const mode = source.kind === 'persistent' ? source.volume.spec?.volumeMode : undefined
  if (mode === 'Block') {
    if (volume.kind !== 'blockDevice')
      throw new Error(`Cannot use "${volume.path}" as a block device: it is a directory`)
    const directory = mapDirectory(deps, desired)
    await mapDevice(deps, { desired, device: volume.path, directory }, signal)
    return { kind: 'device', hostPath: volume.path, permissions: readOnly ? 'r' : 'mrw' }
  }
  await bindLocalFiles(deps, { desired, volume }, signal)
  return { kind: 'files', hostPath: desired.path, readOnly, selinuxRelabel: true, groups: volumeGroupsOf(source) }
}

async function tearDown(deps: LocalVolumeDeps, place: VolumePlace, signal: AbortSignal): Promise<void> {
  if (place.path.includes(`/pods/${place.uid}/volumeDevices/`)) {
    await freeDevice(deps, place, mapDirectory(deps, place), signal)
    return await deps.deviceFiles.removeLink(place.path)
  }
  await deps.mounter.unmount(place.path, { force: false }, signal)
  await unmountDevice(deps, place.specName, signal)
  // Last: as long as it is there, a new agent finds what is left to do.
  await deps.volumeFiles.removeDirectory(place.path)
}

function mapDirectory({ rootDirectory }: LocalVolumeDeps, { specName }: VolumePlace): string {
  return `${rootDirectory}/plugins/kubernetes.io~local-volume/volumeDevices/${specName}`
}

async function inspect(
  deps: LocalVolumeDeps,
  { source, specName }: DesiredVolume,
  signal: AbortSignal,
): Promise<LocalVolume> {
  const persistent = source.kind === 'persistent' ? source.volume : {}
  const { path, fsType } = persistent.spec?.local ?? { path: '' }
  if (!path.startsWith('/') || path.split('/').includes('..'))
    throw new Error(`Cannot use the local volume "${specName}": path "${path}", expected an absolute one without ".."`)
  const found = await deps.describePath(path, signal)
  if (found === undefined) throw new Error(`Cannot use the local volume "${specName}": path "${path}" does not exist`)
  const { kind, real } = found
  if (kind === 'other') throw new Error(`Cannot use "${path}": only directory and block device are supported`)
  const mountOptions = mountOptionsOf(persistent)
  return { name: specName, kind, path: real, fsType: fsType === '' ? undefined : fsType, mountOptions }
}
