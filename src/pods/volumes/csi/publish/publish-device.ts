import { freeDevice, mapDevice } from '../../mounts/map-device.ts'
import type { TearDownRequest } from '../../volume-kind.ts'
import { withVolumeStepErrors, requireDriver } from '../call-driver.ts'
import type { CsiVolumeDeps } from '../csi-volume-deps.ts'
import { csiAttachmentName } from '../csi-names.ts'
import { deviceStaging } from '../csi-paths.ts'
import type { CsiVolume } from '../csi-volume.ts'
import { gatherContext } from './publish-volume.ts'
import type { PublishRequest } from './publish-volume.ts'
import { toCapability } from '../to-capability.ts'
import { callUnpublish } from './unpublish-volume.ts'
import { readVolumeData } from '../read-volume-data.ts'
import { formatVolumeData } from '../volume-data.ts'
import type { VolumeData } from '../volume-data.ts'

const STEP = { name: 'MapVolume.MapPodDevice failed', call: 'NodePublishVolume' }

/** Notes a device before its driver is called: by link and note the rest is found again, whenever the agent dies. */
export async function noteDevice(deps: CsiVolumeDeps, { request, volume }: PublishRequest): Promise<void> {
  const { rootDirectory, csiFiles, deviceFiles } = deps
  const { data, published } = deviceStaging(rootDirectory, request.specName)
  if (request.ready === undefined && request.isFound !== true)
    await deviceFiles.makeLink(request.path, `${published}/${request.uid}`)
  await csiFiles.makeDirectory(data)
  await csiFiles.writeData(data, formatVolumeData(toVolumeData(deps, volume)))
}

/** Has the driver publish a device for one pod; returns where it is. */
export async function publishDevice(deps: CsiVolumeDeps, wanted: PublishRequest, signal: AbortSignal): Promise<string> {
  const { request, volume, attached } = wanted
  const { staging, published, mapped } = deviceStaging(deps.rootDirectory, request.specName)
  const targetPath = `${published}/${request.uid}`
  return await withVolumeStepErrors(
    STEP,
    async () => {
      const driver = requireDriver(deps.drivers, volume.driver)
      const can = await driver.capabilities(signal)
      const context = await gatherContext(
        deps,
        { ...wanted, attached: { ...attached, traits: withoutTokens(wanted) } },
        signal,
      )
      await deps.csiFiles.makeDirectory(published)
      const target = {
        volumeId: volume.handle,
        isMigrated: volume.isMigrated,
        stagingPath: deps.toDriverPath(staging),
        targetPath: deps.toDriverPath(targetPath),
        capability: toCapability(volume, can, undefined),
        readOnly: volume.readOnly,
        publishContext: attached.publishContext,
        ...context,
      }
      const call = () => driver.publish(target, signal)
      const step = `NodePublishVolume of CSI driver ${volume.driver} for volume "${request.name}"`
      await (request.noteStep?.(step, call) ?? call())
      return await map(deps, wanted, { targetPath, mapped }, signal)
    },
    signal,
  )
}

/** Block devices get no tokens. */
function withoutTokens({ attached: { traits } }: PublishRequest): PublishRequest['attached']['traits'] {
  return { ...traits, tokenRequests: [] }
}

async function map(
  deps: CsiVolumeDeps,
  { request }: PublishRequest,
  { targetPath, mapped }: { readonly targetPath: string; readonly mapped: string },
  signal: AbortSignal,
): Promise<string> {
  const found = await deps.describePath(targetPath, signal)
  if (found?.kind !== 'blockDevice')
    throw new Error(`Cannot use "${targetPath}": expected the driver to publish a block device there`)
  await mapDevice(deps, { desired: request, device: found.real, directory: mapped }, signal)
  return found.real
}

/** Takes a device from a pod, by the note of its volume alone; returns what that said. */
export async function unpublishDevice(
  deps: CsiVolumeDeps,
  request: TearDownRequest,
  signal: AbortSignal,
): Promise<VolumeData | undefined> {
  const { rootDirectory, deviceFiles, log } = deps
  const { data: directory, published, mapped } = deviceStaging(rootDirectory, request.specName)
  await freeDevice(deps, request, mapped, signal)
  const data = await readVolumeData(deps, directory)
  const target = `${published}/${request.uid}`
  if (data !== undefined) await callUnpublish(deps, request, { data, target }, signal)
  else log.warn('a CSI device has no note of its driver, it is taken from its pod without', { path: target })
  await deviceFiles.removeLink(request.path)
  return data
}

function toVolumeData({ nodeName }: CsiVolumeDeps, volume: CsiVolume): VolumeData {
  return {
    specVolID: volume.specVolID,
    volumeHandle: volume.handle,
    driverName: volume.driver,
    nodeName,
    attachmentID: csiAttachmentName(volume, nodeName),
  }
}
