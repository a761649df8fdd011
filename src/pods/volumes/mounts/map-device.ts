import type { BlockDevices } from '../../../system/mounts/block-devices.ts'
import type { DeviceFiles } from '../../../system/directories/device-files.ts'
import type { Mounter } from '../../../system/mounts/mounter.ts'
import { mountsAt } from '../../../system/mounts/mounts-at.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'
import { orUndo } from '../or-undo.ts'
import type { VolumePlace, DesiredVolume } from '../desired-volume.ts'

export interface MapDeviceDeps {
  readonly mounter: Pick<Mounter, 'table' | 'bind' | 'unmount'>
  readonly devices: Pick<BlockDevices, 'hold' | 'release'>
  readonly deviceFiles: DeviceFiles
  readonly events: PodEvents
}

/**
 * Makes a bare device ready for a pod: bound on a file that carries the pod's UID, held open through it so that the device cannot vanish, and
 * a link where the pod's devices are.
 */
export async function mapDevice(
  deps: MapDeviceDeps,
  {
    desired,
    device,
    directory,
  }: { readonly desired: DesiredVolume; readonly device: string; readonly directory: string },
  signal: AbortSignal,
): Promise<void> {
  const { mounter, devices, deviceFiles, events } = deps
  const file = `${directory}/${desired.uid}`
  // First the link: by it the rest is found again, whenever the agent dies.
  await deviceFiles.makeLink(desired.path, device)
  await deviceFiles.makeFile(file)
  const wasThere = (await mountsAt(mounter, file)).length > 0
  if (wasThere) return await devices.hold(file, signal)
  const work = async () => {
    await mounter.bind({ source: device, target: file, options: [] }, signal)
    await devices.hold(file, signal)
  }
  await orUndo({ work, undo: () => freeDevice(deps, desired, directory, signal) }, signal)
  const done = `MapVolume.MapPodDevice succeeded for volume "${desired.specName}"`
  for (const where of [
    `globalMapPath "${directory}"`,
    `volumeMapPath "${desired.path.slice(0, desired.path.lastIndexOf('/'))}"`,
  ])
    events.record(desired.pod, { type: 'Normal', reason: 'SuccessfulMountVolume', message: `${done} ${where}` })
}

/** Takes the device from a pod, but for the link, which has to go last. */
export async function freeDevice(
  { mounter, devices, deviceFiles }: MapDeviceDeps,
  { uid }: VolumePlace,
  directory: string,
  signal: AbortSignal,
): Promise<void> {
  const file = `${directory}/${uid}`
  await devices.release(file, signal)
  await mounter.unmount(file, { force: false }, signal)
  await deviceFiles.removeFile(file)
  await deviceFiles.removeIfEmpty(directory)
}
