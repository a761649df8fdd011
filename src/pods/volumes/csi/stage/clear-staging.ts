import type { CsiVolumeDeps } from '../csi-volume-deps.ts'
import { deviceStaging } from '../csi-paths.ts'
import { mountAt } from '../publish/mount-at.ts'
import type { NodeVolume } from './node-volume.ts'

/** Removes the agent's own directories and files of a volume that is not staged any more. Fails where something is still mounted or a directory is not empty. */
export async function clearStaging(deps: CsiVolumeDeps, volume: NodeVolume): Promise<void> {
  const { csiFiles, mounter, rootDirectory } = deps
  const { staging, data, specName, use } = volume
  if ((await mountAt(mounter, staging)) !== undefined)
    throw new Error(`Cannot remove "${staging}": the driver has left something mounted there`)
  await csiFiles.removeDirectory(staging)
  if (use === 'files') {
    await csiFiles.removeData(data)
    await csiFiles.removeDirectory(data)
    return
  }
  const { published, mapped, own } = deviceStaging(rootDirectory, specName)
  await csiFiles.removeDirectory(published)
  await csiFiles.removeDirectory(mapped)
  // Last: by it the rest is found again.
  await csiFiles.removeData(data)
  await csiFiles.removeDirectory(data)
  await csiFiles.removeDirectory(own)
}
