import type { SetUpRequest } from '../../volume-kind.ts'
import { withVolumeStepErrors, requireDriver } from '../call-driver.ts'
import { clearStaging } from './clear-staging.ts'
import type { CsiVolumeDeps } from '../csi-volume-deps.ts'
import type { CsiVolume } from '../csi-volume.ts'
import { readSecret } from '../read-secret.ts'
import type { NodeVolume } from './node-volume.ts'
import { toCapability } from '../to-capability.ts'
import { formatVolumeData } from '../volume-data.ts'
import type { Attached } from './wait-for-attachment.ts'

export interface StageRequest {
  readonly request: SetUpRequest
  readonly volume: CsiVolume
  readonly node: NodeVolume
  readonly attached: Attached
  /** An earlier agent left it: whatever the driver says, nothing of it is cleared away. */
  readonly isFound: boolean
}

const STEPS = {
  files: { name: 'MountVolume.MountDevice failed', call: 'NodeStageVolume' },
  device: { name: 'MapVolume.SetUpDevice failed', call: 'NodeStageVolume' },
}

/** Has the driver make a volume ready for all pods of this node. None: this driver has no need of it. */
export async function stageVolume(
  deps: CsiVolumeDeps,
  staging: StageRequest,
  signal: AbortSignal,
): Promise<'none' | 'staged'> {
  const { volume, node, isFound } = staging
  const clear = isFound ? undefined : () => clearStaging(deps, node)
  return await withVolumeStepErrors({ ...STEPS[volume.use], clear }, () => stage(deps, staging, signal), signal)
}

async function stage(
  deps: CsiVolumeDeps,
  { volume, node, request, attached }: StageRequest,
  signal: AbortSignal,
): Promise<'none' | 'staged'> {
  const { csiFiles, drivers } = deps
  const driver = requireDriver(drivers, volume.driver)
  const can = await driver.capabilities(signal)
  // A device has its directories in any case, and they have to go after its last pod.
  if (!can.has('STAGE_UNSTAGE_VOLUME')) return volume.use === 'device' ? 'staged' : 'none'
  const secrets = await readSecret(deps, volume.stageSecret, 'NodeStageSecretRef', signal)
  await csiFiles.makeDirectory(node.staging)
  // Before the call: after a crash the next agent finds by it what is to be taken down.
  if (volume.use === 'files') {
    const seLinuxMountContext = volume.selinuxLabel === '' ? undefined : volume.selinuxLabel
    const data = { volumeHandle: volume.handle, driverName: volume.driver, seLinuxMountContext }
    await csiFiles.writeData(node.data, formatVolumeData(data))
  }
  const call = () =>
    driver.stage(
      {
        volumeId: volume.handle,
        isMigrated: volume.isMigrated,
        stagingPath: deps.toDriverPath(node.staging),
        capability: toCapability(volume, can, request.fsGroup),
        publishContext: attached.publishContext,
        volumeContext: volume.attributes,
        secrets,
      },
      signal,
    )
  await (request.noteStep?.(`NodeStageVolume of CSI driver ${volume.driver} for volume "${request.name}"`, call) ??
    call())
  return 'staged'
}
