import type { DriverUsage } from '../mounted-volume.ts'
import type { DesiredVolume } from '../desired-volume.ts'
import { requireDriver } from './call-driver.ts'
import type { CsiVolumeDeps } from './csi-volume-deps.ts'
import { deviceStaging, mountPath } from './csi-paths.ts'
import { toCsiVolume } from './to-csi-volume.ts'

/** What a driver says of a volume; undefined when it never does. */
export async function askDriverUsage(
  { drivers, rootDirectory, toDriverPath }: Pick<CsiVolumeDeps, 'drivers' | 'rootDirectory' | 'toDriverPath'>,
  desired: DesiredVolume,
  signal: AbortSignal,
): Promise<DriverUsage | undefined> {
  const volume = toCsiVolume(desired)
  const driver = requireDriver(drivers, volume.driver)
  const can = await driver.capabilities(signal)
  if (!can.has('GET_VOLUME_STATS')) return undefined
  const volumePath =
    volume.use === 'device'
      ? `${deviceStaging(rootDirectory, volume.specName).mapped}/${desired.uid}`
      : mountPath(desired.path)
  const request = { volumeId: volume.handle, volumePath: toDriverPath(volumePath), stagingPath: undefined }
  const { bytes, inodes, condition } = await driver.volumeStats(request, signal)
  return {
    ...(bytes && { capacityBytes: bytes.total, availableBytes: bytes.available, usedBytes: bytes.used }),
    ...(inodes && { inodes: inodes.total, inodesFree: inodes.available, inodesUsed: inodes.used }),
    ...(can.has('VOLUME_CONDITION') && { condition }),
  }
}
