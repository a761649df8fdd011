import { mountsAt } from '../../host/mounts-at.ts'
import { orUndo } from '../or-undo.ts'
import type { VolumePlace, VolumeWish } from '../volume-wish.ts'
import type { LocalVolume, LocalVolumeDeps } from './local-volume-deps.ts'

function mapDirectory(rootDirectory: string, name: string): string {
  return `${rootDirectory}/plugins/kubernetes.io~local-volume/volumeDevices/${name}`
}

/**
 * Makes a bare device ready for a pod: bound on a file that carries the pod's UID, held open through it so that the device cannot vanish, and
 * a link where the pod's devices are.
 */
export async function mapDevice(
  deps: LocalVolumeDeps,
  { wish, volume }: { readonly wish: VolumeWish; readonly volume: LocalVolume },
  signal: AbortSignal,
): Promise<void> {
  const { rootDirectory, mounter, devices, deviceFiles, events } = deps
  const directory = mapDirectory(rootDirectory, wish.specName)
  const file = `${directory}/${wish.uid}`
  // First the link: by it the rest is found again, whenever the agent dies.
  await deviceFiles.makeLink(wish.path, volume.path)
  await deviceFiles.makeFile(file)
  const wasThere = (await mountsAt(mounter, file)).length > 0
  if (wasThere) return await devices.hold(file, signal)
  const work = async () => {
    await mounter.bind({ source: volume.path, target: file, options: [] }, signal)
    await devices.hold(file, signal)
  }
  await orUndo({ work, undo: () => unmapDevice(deps, wish, signal) }, signal)
  const message = `MapVolume.MapPodDevice succeeded for volume "${wish.specName}" globalMapPath "${directory}"`
  events.record(wish.pod, { type: 'Normal', reason: 'SuccessfulMountVolume', message })
}

/** Takes the device from a pod; the link goes last. */
export async function unmapDevice(
  { rootDirectory, mounter, devices, deviceFiles }: LocalVolumeDeps,
  { uid, specName, path }: VolumePlace,
  signal: AbortSignal,
): Promise<void> {
  const directory = mapDirectory(rootDirectory, specName)
  const file = `${directory}/${uid}`
  await devices.release(file, signal)
  await mounter.unmount(file, { force: false }, signal)
  await deviceFiles.removeFile(file)
  await deviceFiles.removeIfEmpty(directory)
  await deviceFiles.removeLink(path)
}
