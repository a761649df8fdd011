import type { CsiDriver } from './csi-drivers.ts'
import type { CsiNodeClient } from './csi-node-client.ts'
import { toCapabilities, toVolumeCapability, toVolumeStats } from './to-csi-messages.ts'

/** A driver with requests in our types, over the calls of its node service. */
export function createCsiDriver(
  client: Pick<CsiNodeClient, 'call'>,
  { name, nodeId }: { readonly name: string; readonly nodeId: string },
): CsiDriver {
  return {
    name,
    nodeId,
    capabilities: async (signal) => toCapabilities(await client.call('nodeGetCapabilities', {}, signal)),
    async stage({ stagingPath: stagingTargetPath, capability, isMigrated, ...request }, signal) {
      const volumeCapability = toVolumeCapability(capability)
      await client.call('nodeStageVolume', { ...request, stagingTargetPath, volumeCapability }, signal, { isMigrated })
    },
    async unstage({ volumeId, stagingPath: stagingTargetPath }, signal) {
      await client.call('nodeUnstageVolume', { volumeId, stagingTargetPath }, signal)
    },
    async publish(
      { stagingPath: stagingTargetPath = '', capability, readOnly: readonly, isMigrated, ...request },
      signal,
    ) {
      const message = { ...request, stagingTargetPath, volumeCapability: toVolumeCapability(capability), readonly }
      await client.call('nodePublishVolume', message, signal, { isMigrated })
    },
    async unpublish({ volumeId, targetPath }, signal) {
      await client.call('nodeUnpublishVolume', { volumeId, targetPath }, signal)
    },
    async expand({ stagingPath: stagingTargetPath = '', capability, requiredBytes, isMigrated, ...request }, signal) {
      const volumeCapability = toVolumeCapability(capability)
      const capacityRange = { requiredBytes, limitBytes: 0n }
      const message = { ...request, stagingTargetPath, volumeCapability, capacityRange }
      return (await client.call('nodeExpandVolume', message, signal, { isMigrated })).capacityBytes
    },
    async volumeStats({ volumeId, volumePath, stagingPath: stagingTargetPath = '' }, signal) {
      return toVolumeStats(await client.call('nodeGetVolumeStats', { volumeId, volumePath, stagingTargetPath }, signal))
    },
  }
}
