import { joinMountOptions } from '../persistent-volumes/mount-options.ts'
import type { DesiredVolume } from '../desired-volume.ts'
import { bindFiles } from '../mounts/bind-files.ts'
import type { LocalVolume, LocalVolumeDeps } from './local-volume-deps.ts'
import { mountDevice } from './mount-device.ts'

/** Binds a directory of the node, or the file system of one of its devices, for a pod. */
export async function bindLocalFiles(
  deps: LocalVolumeDeps,
  { desired, volume }: { readonly desired: DesiredVolume; readonly volume: LocalVolume },
  signal: AbortSignal,
): Promise<void> {
  const isDevice = volume.kind === 'blockDevice'
  const source = isDevice ? await mountDevice(deps, volume, desired, signal) : volume.path
  // Options of a file system are those of its one mount; a bind only takes what holds for this pod.
  const options = joinMountOptions(isDevice ? [] : volume.mountOptions, desired.readOnly ? ['ro'] : [])
  await bindFiles(deps, { desired, source, options, changesGroupInUse: false }, signal)
}
