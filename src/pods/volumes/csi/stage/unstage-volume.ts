import { findPodUses } from '../../local/find-pod-uses.ts'
import { requireDriver } from '../call-driver.ts'
import { clearStaging } from './clear-staging.ts'
import type { CsiVolumeDeps } from '../csi-volume-deps.ts'
import { mountAt } from '../publish/mount-at.ts'
import type { NodeVolume } from './node-volume.ts'
import { readVolumeData } from '../read-volume-data.ts'

/** Has the driver take a volume from the node after its last pod, by the note that lies beside it alone. */
export async function unstageVolume(deps: CsiVolumeDeps, volume: NodeVolume, signal: AbortSignal): Promise<void> {
  const { csiFiles, drivers, toDriverPath } = deps
  const data = await readVolumeData(deps, volume.data)
  if (data === undefined) {
    // Its owner is not known: only what is certainly empty goes.
    await csiFiles.removeIfEmpty(volume.staging)
    return await csiFiles.removeIfEmpty(volume.data)
  }
  await checkUnused(deps, volume)
  const driver = requireDriver(drivers, data.driverName)
  const can = await driver.capabilities(signal)
  if (can.has('STAGE_UNSTAGE_VOLUME'))
    await driver.unstage({ volumeId: data.volumeHandle, stagingPath: toDriverPath(volume.staging) }, signal)
  await clearStaging(deps, volume)
}

/** The kernel has the last word on who uses a volume. Volumes of other names may share its file system. */
async function checkUnused(
  { mounter, rootDirectory }: CsiVolumeDeps,
  { staging, specName }: NodeVolume,
): Promise<void> {
  if ((await mountAt(mounter, staging)) === undefined) return
  const uses = findPodUses(await mounter.table(), staging, `${rootDirectory}/pods`)
  const own = specName === '' ? uses : uses.filter((point) => point.split('/').includes(specName))
  if (own.length > 0) throw new Error(`Cannot unstage "${staging}": it is still mounted at "${own[0]}"`)
}
